"""Pages from the command line."""

import pytest
import torch

from epic import UnitCost
from epic.cli.gallery import exhibits
from epic.data import Dataset, write_graphs
from epic.data.lollipop import lollipop
from epic.graphs.convert import pack
from tests.cli.command import epic
from tests.view.test_page import data_of


@pytest.fixture
def small(tmp_path):
    write_graphs(tmp_path / "a<b>.safetensors", pack(lollipop(30, seed=0)))
    return tmp_path / "a<b>.safetensors"


def test_gallery_writes_a_page(small, tmp_path):
    run = epic("gallery", str(small), "--pairs", "5", "--out", str(tmp_path / "gallery.html"))
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("Mean distance ")
    page = (tmp_path / "gallery.html").read_text(encoding="utf-8")
    assert [p["kind"] for p in data_of(page)["entries"]] == ["same"] * 3 + ["different"] * 2


def test_gallery_matches_edges_too(small, tmp_path):
    out = tmp_path / "gallery.html"
    run = epic("gallery", str(small), "--pairs", "2", "--matching", "edges", "--edge-price", "2", "--out", str(out))
    assert run.returncode == 0, run.stderr
    assert "Nodes and edges are matched together" in out.read_text(encoding="utf-8")
    dataset = Dataset("small", pack(lollipop(30, seed=0)), "classes")
    plain, dear = (
        exhibits(dataset, cost=UnitCost(), pairs=2, order="random", seed=0, matching="edges", edge_cost=price)
        for price in (0.0, 2.0)
    )
    assert all(a.path.distance < b.path.distance for a, b in zip(plain, dear, strict=True))


def test_half_of_the_pairs_share_a_class():
    small = Dataset("small", pack(lollipop(40, seed=0)), "classes")
    shown = exhibits(small, cost=UnitCost(), pairs=7, order="random", seed=0)
    assert [e.kind for e in shown] == ["same"] * 4 + ["different"] * 3
    for e in shown:
        assert (int(small.y[e.source]) == int(small.y[e.target])) == (e.kind == "same")
        assert e.source != e.target
        assert torch.equal(e.path.source.edge_index, small.graphs.graph(e.source).edge_index)
    again = exhibits(small, cost=UnitCost(), pairs=7, order="random", seed=0)
    assert [(e.source, e.target) for e in again] == [(e.source, e.target) for e in shown]


def test_pairs_of_real_values_are_random():
    graphs = lollipop(10, seed=0)
    for g, value in zip(graphs, torch.linspace(-1, 1, 10), strict=True):
        g.y = value.reshape(1, 1)
    shown = exhibits(Dataset("values", pack(graphs), "values"), cost=UnitCost(), pairs=3, order="random", seed=0)
    assert [e.kind for e in shown] == ["random"] * 3
