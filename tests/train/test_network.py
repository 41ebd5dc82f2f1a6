import functools
import sys

import pytest
import torch

import epic
from epic import InputError
from epic.data import Dataset, lollipop
from epic.graphs.convert import pack
from epic.train.loop import with_features
from epic.train.network import build_network, check_network, load_network
from tests.train import nets


@pytest.fixture(scope="module")
def dataset():
    return Dataset("lollipops", pack(lollipop(40, heads=(4, 6), seed=0)), "classes")


def test_a_network_is_found_by_its_name(tmp_path, monkeypatch):
    assert load_network("tests.train.nets:OnBatch") is nets.OnBatch
    assert load_network("tests.train.nets:OnBatch@0123") is nets.OnBatch
    (tmp_path / "mine_in_this_folder.py").write_text("class A:\n    class B: pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    assert load_network("mine_in_this_folder:A.B").__qualname__ == "A.B"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("OnBatch", "named package.module:Class, got 'OnBatch'"),
        ("no_such_module:Net", "cannot import no_such_module"),
        ("../nets:Net", "cannot import ../nets for the network '../nets:Net': TypeError: the 'package' argument"),
        ("tests.train.nets:Nothing", "tests.train.nets has no Nothing"),
        ("tests.train.nets:NUMBER", "is a int: name a class or a function"),
    ],
)
def test_a_wrong_name_is_told(name, message):
    with pytest.raises(InputError, match=message):
        load_network(name)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import sys\nsys.exit(0)\n", r"SystemExit: 0 \(.*, line 2\)"),
        ("raise RuntimeError('boom')\n", r"RuntimeError: boom \(.*, line 1\)"),
        ("def (\n", "SyntaxError: invalid syntax"),
    ],
)
def test_a_module_that_fails_is_told_with_its_line(tmp_path, monkeypatch, source, says):
    name = f"failing_{abs(hash(source))}"
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    with pytest.raises(InputError, match=f"cannot import {name} for the network '{name}:Net': {says}"):
        load_network(f"{name}:Net")


class Failing(torch.nn.Module):
    """A network that does what is asked for in place of a forward pass."""

    def __init__(self, columns, outputs, act):
        super().__init__()
        self.weight, self.outputs, self.act = torch.nn.Parameter(torch.zeros(1)), outputs, act

    def forward(self, batch):
        return self.act(torch.zeros(batch.num_graphs, self.outputs))


def leave(_):
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("network", "says"),
    [
        (lambda *_: leave(0), "fails: SystemExit: 0"),
        (lambda *_: torch.nn.ReLU(), "has no parameters: there is nothing to train"),
        (lambda _, outputs: torch.nn.LazyLinear(outputs), "has lazy layers"),
        (lambda *sizes: Failing(*sizes, leave), "fails on .* SystemExit: 0"),
        (lambda *sizes: Failing(*sizes, lambda y: y / 0), "not finite before any training"),
        (lambda *sizes: Failing(*sizes, lambda y: y + 1j), "complex64"),
    ],
)
def test_a_network_that_would_fail_in_every_run_is_refused_before(dataset, network, says):
    with pytest.raises(InputError, match=says):
        check_network(network, dataset)


def test_both_forms_of_forward_give_the_same(dataset):
    graphs = with_features(dataset.graphs, torch.arange(40))
    state = torch.get_rng_state()
    one, two = (build_network(n, graphs, outputs=3, seed=5).eval() for n in (nets.OnBatch, nets.OnParts))
    batch = graphs.to_batch()
    assert torch.equal(one(batch), two(batch))
    assert one(batch).shape == (40, 3)
    assert torch.equal(state, torch.get_rng_state())
    other = build_network(nets.OnBatch, graphs, outputs=3, seed=6)
    assert not torch.equal(one.out.weight, other.out.weight)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nets.flat, r"nets:flat returns \[\d+, 1\] for \d+ graphs, not \[\d+, 2\]"),
        (nets.none, "gives a NoneType, not a module"),
        (lambda: None, r"fails: .*takes 0 positional arguments"),
        (functools.partial(nets.OnBatch, width=3), "give a class or a function"),
    ],
)
def test_a_network_that_breaks_the_contract_is_refused(dataset, network, message):
    with pytest.raises(InputError, match=message):
        check_network(network, dataset)


def test_categories_of_atoms_are_named_as_the_cause(dataset):
    graphs = dataset.graphs
    atoms = Dataset("atoms", pack(list(_with_atoms(graphs))), "classes")
    with pytest.raises(InputError, match=r"int64 .categories of atoms: embed them, or begin with x.float"):
        check_network(nets.FloatsOnly, atoms)
    assert check_network(nets.OnBatch, atoms)


def _with_atoms(graphs):
    for graph in graphs:
        graph.x = torch.ones(graph.num_nodes, 2, dtype=torch.long)
        yield graph


@pytest.mark.parametrize("method", ["manifold_mixup", "grea", "graph_transplant"])
def test_methods_that_need_parts_say_so(dataset, method):
    with pytest.raises(InputError, match=r"needs a model with .* but OnBatch has no .*give your model these parts"):
        check_network(nets.OnBatch, dataset, ["vanilla", method])


def test_flag_and_all_that_make_graphs_take_any_network(dataset):
    assert check_network(nets.OnParts, dataset, ["flag", "drop_edge", "submix", "epic"])


def test_a_network_is_known_by_name_source_and_shape(dataset, monkeypatch):
    names = [check_network(n, dataset) for n in (nets.OnBatch, nets.OnParts, nets.wide)]
    assert [n.partition("@")[0] for n in names] == [f"tests.train.nets:{n}" for n in ("OnBatch", "OnParts", "wide")]
    assert len({n.partition("@")[2] for n in names}) == 3
    assert check_network(nets.OnBatch, dataset) == names[0]
    monkeypatch.setattr("inspect.getsource", lambda thing: "another source")
    assert check_network(nets.OnBatch, dataset) != names[0]


def test_compare_takes_graphs_and_an_own_network(tmp_path):
    """The room can be called; networks get keys of their own, classifiers without one do not."""
    graphs = lollipop(40, heads=(4, 6), seed=0)
    how = {"results": tmp_path / "r.jsonl", "splits": 1, "seeds": 1, "tune": 0, "epochs": 1, "progress": False}
    own = epic.compare(graphs, ["drop_edge"], model=nets.OnParts, **how)
    assert [(r.method, r.runs) for r in own.rows] == [("vanilla", 1), ("drop_edge", 1), ("counts", 1)]
    named = {r["config"].get("network", "").partition("@")[0] for r in own.store}
    assert named == {"", "tests.train.nets:OnParts"}
    epic.compare(graphs, ["drop_edge"], model="tests.train.nets:wide", **how)
    assert len(epic.compare(graphs, ["drop_edge"], **how).store) == 3 + 2 + 2
    assert "drop_edge" in str(own)


@pytest.mark.slow
def test_workers_use_an_own_network(tmp_path):
    graphs = lollipop(40, heads=(4, 6), seed=0)
    how = {"splits": 1, "seeds": 1, "tune": 0, "epochs": 2, "progress": False, "model": nets.OnBatch}
    here, there = (epic.compare(graphs, results=tmp_path / f"{w}.jsonl", workers=w, **how) for w in (0, 2))
    assert [r.score for r in here.rows] == [r.score for r in there.rows]
    assert not there.failed
