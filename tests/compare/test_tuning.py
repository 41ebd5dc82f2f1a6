from itertools import combinations

from epic.augment import METHODS, find_method
from epic.compare.plan import Plan
from epic.compare.store import Store
from epic.compare.tuning import PLAIN, candidates, spread
from epic.nn.backbones import BackboneConfig
from epic.train.config import RunConfig


def test_every_method_gets_the_same_budget_or_all_it_has():
    for name in METHODS:
        if name == "vanilla":
            continue
        tries = candidates(name, 3, {})
        assert len(tries) <= 3
        assert tries[0] == {}, "defaults come first"
        assert all(find_method(name).create(**t) for t in tries), "settings that the method takes"
        keys = [tuple(sorted((k, str(v)) for k, v in t.items())) for t in candidates(name, 99, {})]
        assert len(set(keys)) == len(keys)


def test_what_is_fixed_is_not_varied():
    assert all("p" not in t for t in candidates("drop_edge", 20, {"p": 0.3}))
    assert any("p" in t for t in candidates("drop_edge", 20, {}))
    assert candidates("drop_edge", 1, {}) == candidates("drop_edge", 0, {}) == [{}]


def test_one_change_at_a_time_the_axes_in_turn_then_the_rest():
    grid = {"a": (0, 1, 2), "b": (0, 1)}
    assert spread(grid, 4, "x") == [{}, {"a": 1}, {"b": 1}, {"a": 2}]
    whole = spread(grid, 99, "x")
    assert len(whole) == 6
    assert {tuple(sorted(t.items())) for t in whole[4:]} == {(("a", 1), ("b", 1)), (("a", 2), ("b", 1))}
    assert spread(grid, 99, "x") == whole


def test_plain_training_tries_every_choice_its_defaults_first(tmp_path):
    plan = Plan(name="p", title="p", datasets=("a",), entries=("vanilla",), tune=99, plain=tuple(PLAIN))
    tries = [t.config for t in plan.expand(plan.groups()[0], Store(tmp_path / "r.jsonl")).tuning]
    seen = [(BackboneConfig(**c["model"]), c["lr"]) for c in tries]
    assert seen[0] == (BackboneConfig(), RunConfig(dataset="a").lr)
    assert len(seen) == 12
    assert all(a != b for a, b in combinations(seen, 2)), "no try is made twice"
