"""Options made from a model, on a small one."""

from typing import Any, Literal

import pytest
import typer
from pydantic import BaseModel, Field
from typer.testing import CliRunner

from epic import InputError
from epic.cli.fields import options_from, pairs
from epic.cli.options import ConfigFile
from epic.train.config import CostConfig, RunConfig


class Inner(BaseModel):
    size: int = Field(3, ge=1, description="How large.")
    file: str | None = Field(None, description="Where it is.")


class Outer(BaseModel):
    name: str = Field(description="What it is called.")
    rate: float = Field(0.5, ge=0, le=1, description="How fast.")
    kind: Literal["a", "b"] = Field("a", description="Which sort.")
    tags: list[str] | None = Field(None, description="Words.")
    settings: dict[str, Any] = Field({}, description="Anything.")
    cost: Inner = Inner()
    checksum: str | None = None


def call(*arguments, names=(), **defaults):
    app, seen = typer.Typer(), []

    @app.command()
    @options_from(Outer, *names, **defaults)
    def verb(run: dict[str, Any], loud: bool = False, config: ConfigFile = None) -> None:
        """Do it."""
        seen.append((run, loud))

    result = CliRunner().invoke(app, list(arguments))
    return result, seen[0] if seen else None


def test_defaults_are_those_of_the_model():
    result, (run, loud) = call("x")
    assert result.exit_code == 0
    assert not loud
    assert Outer(**run) == Outer(name="x")


def test_every_kind_of_field_is_read():
    given = "x --rate 0.25 --kind b --tags u,v --set p=1 --set q=zero --cost here --cost-size 7 --loud".split()
    _, (run, loud) = call(*given)
    assert loud
    assert run == {
        "name": "x",
        "rate": 0.25,
        "kind": "b",
        "tags": ["u", "v"],
        "settings": {"p": 1, "q": "zero"},
        "cost": {"size": 7, "file": "here"},
    }
    assert Outer(**run).cost == Inner(size=7, file="here")


@pytest.mark.parametrize("given", [("x", "--rate", "2"), ("x", "--cost-size", "0"), ("x", "--checksum", "1"), ()])
def test_bounds_and_names_are_checked(given):
    result, seen = call(*given)
    assert (result.exit_code, seen) == (2, None)


def test_a_verb_may_take_some_fields_and_have_other_defaults():
    _, (run, _) = call("x", names=("name", "rate", "cost_size"), rate=0.75)
    assert run == {"name": "x", "rate": 0.75, "cost": {"size": 3}}
    result, _ = call("x", "--kind", "b", names=("name", "rate"))
    assert result.exit_code == 2
    assert call("x")[1][0]["rate"] == 0.5, "the defaults of another verb are its own"


def test_help_shows_descriptions_and_bounds():
    text = " ".join(call("--help")[0].output.split())
    for part in ("What it is called", "How fast", "0<=x<=1", "a|b", "NAME=VALUE", "How large", "Do it."):
        assert part in text
    assert "checksum" not in text


def test_a_file_gives_defaults_and_the_command_line_wins(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("name: y\nrate: 1\ntags: [u, v]\nset: {p: 0.5}\ncost: {size: 9, file: null}\nchecksum: abc\n")
    _, (run, _) = call("--config", str(path), "--rate", "0.1", "--cost", "mine")
    assert run == {
        "name": "y",
        "rate": 0.1,
        "kind": "a",
        "tags": ["u", "v"],
        "settings": {"p": 0.5},
        "cost": {"size": 9, "file": "mine"},
    }
    path.write_text("name: y\nsettings: {p: 1}\ncost: mine\n")
    _, (run, _) = call("--config", str(path))
    assert (run["settings"], run["cost"]["file"]) == ({"p": 1}, "mine")
    path.write_text("name: y\ncost: {sise: 1}\n")
    result, _ = call("--config", str(path))
    assert "unknown option" in str(result.exception)
    assert "'cost_sise'; did you mean 'cost_size'" in str(result.exception)


def test_pairs_need_a_name_and_a_value():
    with pytest.raises(InputError, match="--set takes NAME=VALUE, got 'p'"):
        pairs(["p"], "--set")


@pytest.mark.parametrize("model", [RunConfig, CostConfig])
def test_every_field_of_a_config_has_a_description(model):
    assert [n for n, field in model.model_fields.items() if not field.description] == []
