"""Values of a wrong kind are told in a sentence that names them, wherever they are given."""

import pytest

from epic import EdgeCost, FeatureCost, InputError, LearnedCost, UnitCost, compare, edit_path
from epic.data import lollipop

GRAPHS = lollipop(12, seed=0)
PATH = edit_path(GRAPHS[0], GRAPHS[1], UnitCost(), seed=0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: FeatureCost(edit="much"), "edit must be a number, got 'much'"),
        (lambda: EdgeCost("much"), "the price of an edge must be a number, got 'much'"),
        (lambda: EdgeCost(deletion=float("nan")), "the deletion of an edge must be a number, got nan"),
        (lambda: EdgeCost(insertion=-1), "the insertion of an edge must be 0 or more, got -1"),
        (lambda: LearnedCost().fit(GRAPHS, epochs="few"), "epochs must be a number, got 'few'"),
        (lambda: LearnedCost().fit(GRAPHS, epochs=1.5), "epochs must be a whole number, got 1.5"),
        (lambda: LearnedCost().fit(GRAPHS, lr=[0.1]), r"lr must be a number, got \[0.1\]"),
        (lambda: PATH["end"], "a step of a path is a whole number from 0 to 14, got 'end'"),
        (lambda: PATH.label(0.5), "a step of a path is a whole number from 0 to 14, got 0.5"),
    ],
)
def test_values_of_a_wrong_kind_are_named(call, says):
    with pytest.raises(InputError, match=f"^{says}$"):
        call()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"methods": "epic"}, "methods must be a list of names, got 'epic'"),
        ({"methods": 5}, "methods must be a list of names, got 5"),
        ({"budget": [5]}, r"budget must be a number, got \[5\]"),
        ({"splits": "few"}, "splits must be a whole number of at least 1, got 'few'"),
        ({"seeds": 0}, "seeds must be a whole number of at least 1, got 0"),
        ({"tune": -1}, "tune must be a whole number of at least 0, got -1"),
    ],
)
def test_a_comparison_names_them_before_it_runs(given, says, tmp_path):
    with pytest.raises(InputError, match=f"^{says}$"):
        compare(GRAPHS, results=tmp_path / "compare.jsonl", **given)
    assert not (tmp_path / "compare.jsonl").exists()
