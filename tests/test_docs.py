"""The tables of docs/results.md are those that the raw lines in results/ give."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_page_of_results_is_up_to_date(monkeypatch):
    monkeypatch.chdir(ROOT)
    script = runpy.run_path(str(ROOT / "docs" / "update.py"))
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    parts = list(script["PART"].finditer(page))
    assert len(parts) == 3
    for part in parts:
        assert part[0] == script["generated"](part), "run docs/update.py"
