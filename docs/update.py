"""Write the generated parts of results.md, former_results.md and study.md, and the pictures of the study.

Each part stands between the comment that names its command and ``<!-- end -->``.

    python docs/update.py          # from the top of the repository

The comment says which results version (``epic.train.config.RESULTS_VERSION``) the runs behind a part are of. Parts of a
former version are left as they are: today's code does not take their runs for its own. When new runs replace them,
write the new version into the comment and run this.
"""

from __future__ import annotations

import re
import shlex
from functools import partial
from pathlib import Path

from typer.testing import CliRunner

from epic.cli.verbs import app
from epic.compare.claims import judge
from epic.compare.page import forest
from epic.compare.store import Store
from epic.paper.run_summary import called_plans
from epic.train.config import RESULTS_VERSION
from epic.view.page import svg

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "docs" / name for name in ("results.md", "former_results.md", "study.md")]
PART = re.compile(r"<!-- results version (\d+): epic (report .*?) -->\n(.*?)<!-- end -->", re.DOTALL)


def generated(match: re.Match[str]) -> str:
    """Return a part as it should be."""
    if int(match[1]) != RESULTS_VERSION:
        return match[0]
    done = CliRunner().invoke(app, shlex.split(match[2]))
    if done.exit_code:
        raise SystemExit(f"epic {match[2]} failed: {done.output}")
    return f"<!-- results version {match[1]}: epic {match[2]} -->\n\n{done.stdout.strip()}\n\n<!-- end -->"


def pictures() -> dict[str, str]:
    """Return a picture of each main claim of the study by its file name: the difference on each dataset, and on all."""
    found = {}
    for plan in ("few", "study"):
        for runs in called_plans(Store.merged([ROOT / "results" / f"{plan}.jsonl"]), [plan]):
            for judged in (j for j in judge(runs) if j.claim.main):
                draw = partial(forest, differences=judged.rows)
                name = f"{plan}_{judged.claim.method.replace(' ', '_').lower()}.svg"
                found[name] = svg(draw, (6.0, 0.9 + 0.27 * len(judged.rows)), salt=name)
    return found


if __name__ == "__main__":
    for name, picture in pictures().items():
        (ROOT / "docs" / "images" / name).write_text(picture, encoding="utf-8")
    for page in PAGES:
        page.write_text(PART.sub(generated, page.read_text(encoding="utf-8")), encoding="utf-8")
