"""A short slice of the campaign, the same every time; kills, which hit another moment every time, are left to it."""

import numpy as np
import pytest

from tests.fuzz import odd
from tests.fuzz.campaign import COLUMNS, KINDS, SLOW, campaign, run_case
from tests.fuzz.oracle import WrongAnswer


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "kills"])
def test_no_crash_no_hang_no_wrong_answer(kind):
    if kind in ("csv_tables", "valid_paths"):
        pytest.importorskip("rdkit", reason="RDKit is not installed (extra 'mol')")
    if kind == "pools":
        pytest.importorskip("ot", reason="POT is not installed (extra 'ot')")
    for number in range(10 if kind in SLOW else 30):
        column, why = run_case(kind, number)
        assert column in ("accepted", "refused"), f"case {number} of {kind}: {why}"


@pytest.mark.parametrize(
    ("error", "column"), [(KeyError("x"), "crashes"), (WrongAnswer("x"), "wrong"), (ValueError(), "crashes")]
)
def test_the_campaign_notices(monkeypatch, error, column):
    def case(rng, folder):
        raise error

    monkeypatch.setitem(KINDS, "distances", ("memory", case))
    assert run_case("distances", 0)[0] == column


def test_a_case_leaves_nothing_behind_for_the_next():
    before = repr(odd.JSON)
    for number in range(300):
        odd.edit_json(np.random.default_rng(number), {"a": {"a": 1}})
    assert repr(odd.JSON) == before


def test_the_campaign_goes_on_where_it_stopped(monkeypatch, tmp_path):
    numbers = []

    def case(rng, folder):
        numbers.append(int(rng.integers(1 << 40)))
        return "accepted"

    for kind in list(KINDS):
        monkeypatch.delitem(KINDS, kind)
    monkeypatch.setitem(KINDS, "one", ("memory", case))
    campaign(3, tmp_path / "f.json")
    found = campaign(5, tmp_path / "f.json")
    assert len(numbers) == len(set(numbers)) == 5
    assert {c: found["memory"][c] for c in COLUMNS} == {**dict.fromkeys(COLUMNS, 0), "cases": 5, "accepted": 5}


def test_a_kind_that_failed_is_done_again_as_a_whole(monkeypatch, tmp_path):
    mended = []

    def case(rng, folder):
        if not mended:
            raise WrongAnswer("not yet")
        return "accepted"

    for kind in list(KINDS):
        monkeypatch.delitem(KINDS, kind)
    monkeypatch.setitem(KINDS, "one", ("memory", case))
    assert campaign(3, tmp_path / "f.json")["memory"]["wrong"] == 3
    mended.append(True)
    found = campaign(3, tmp_path / "f.json")["kinds"]["one"]
    assert (found["cases"], found["accepted"], found["wrong"], found["failures"]) == (3, 3, 0, [])
