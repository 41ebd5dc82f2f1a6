import inspect

import pytest

from epic import EPIC, InputError, UnitCost
from epic.augment import FLAG, METHODS, DropEdge, GraphTransplant, Vanilla, param
from epic.augment.params import Parameters


class Small(Parameters):
    size: int = param(default=3, grid=(1, 3, 5), kw_only=False, help="of it")
    name: str = param(default="a")


class Smaller(Small):
    size: int = param(default=1)
    name = "fixed"
    more: bool = param(default=False)


def test_a_declaration_is_the_signature():
    assert str(inspect.signature(Small)) == "(size=3, *, name='a')"
    assert str(inspect.signature(EPIC)).startswith("(cost=None, *, order='random'")
    with pytest.raises(TypeError, match=r"^DropEdge: too many positional.* It takes \(p=0.2, "):
        DropEdge(0.1, 0.5)
    with pytest.raises(TypeError, match=r"^DropEdge: got .*strength"):
        DropEdge(strength=0.1)


def test_a_subclass_changes_adds_and_fixes():
    assert str(inspect.signature(Smaller)) == "(*, more=False, size=1)"
    assert Smaller(size=4).get_params() == {"more": False, "size": 4}
    assert Smaller.params["size"].choices == (1, 3, 5)
    assert Smaller.params["size"].help == "of it"
    assert Smaller().name == "fixed"


def test_methods_take_what_they_use():
    assert set(Vanilla.params) == {"seed", "num_classes", "task"}
    assert "ratio" not in FLAG.params
    assert "replace" not in EPIC.params
    assert GraphTransplant.params["ratio"].default == 0.5


def test_set_params_checks():
    method = DropEdge().set_params(p=0.4, seed=3)
    assert (method.p, method.seed) == (0.4, 3)
    for wrong, message in (({"p": 2}, "p must lie between 0 and 1"), ({"q": 1}, "unknown parameter of DropEdge 'q'")):
        with pytest.raises(InputError, match=message):
            method.set_params(**wrong)
    assert method.p == 0.4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"p": "0.2"}, "p must be a number, got '0.2'"),
        ({"p": True}, "p must be a number, got True"),
        ({"ratio": float("nan")}, "ratio must be a number"),
        ({"ratio": 2.0}, "ratio must lie between 0 and 1 where graphs are replaced"),
        ({"replace": "no"}, "replace must be true or false, got 'no'"),
        ({"seed": "0"}, "seed must be an int, a torch.Generator or None, got '0'"),
        ({"num_classes": 2.5}, "num_classes must be a whole number"),
        ({"task": "class"}, "did you mean 'classes'"),
    ],
)
def test_wrong_values_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        DropEdge(**settings)


def test_presets_fix_parameters():
    unit = METHODS["epic_unit"]
    assert isinstance(unit.create(ratio=0.1).cost, UnitCost)
    assert "cost" not in unit.params
    assert "pairs" in unit.grid
    assert METHODS["epic_edges"].create().matching == "edges"
    with pytest.raises(InputError, match="epic_edges has matching='edges': leave it out"):
        METHODS["epic_edges"].create(matching="nodes")


@pytest.mark.parametrize("name", METHODS)
def test_every_value_of_a_grid_is_taken(name):
    preset = METHODS[name]
    assert name == "vanilla" or preset.grid
    for parameter, values in preset.grid.items():
        assert len(set(values)) == len(values) > 1
        for value in values:
            assert getattr(preset.create(**{parameter: value}), parameter) == value
