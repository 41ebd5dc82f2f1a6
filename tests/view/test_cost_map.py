import numpy as np
import pytest

import epic.view
from epic import FeatureCost, InputError, UnitCost
from epic.data import lollipop, lollipop_graph
from epic.data.smiles import molecule
from tests.sample_graphs import random_graph


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_graph_is_drawn_with_a_colour_bar(tmp_path, suffix):
    graph, reference = lollipop_graph(4, 3), lollipop(8, seed=0)
    figure = epic.view.costs(graph, UnitCost(), reference=reference, path=tmp_path / f"costs.{suffix}")
    assert (tmp_path / f"costs.{suffix}").stat().st_size > 3000
    picture, bar = figure.axes
    lines, points = picture.collections
    assert len(points.get_offsets()) == graph.num_nodes
    assert len(lines.get_segments()) == graph.edge_index.shape[1]
    assert bar.get_ylabel() == "mean substitution cost to the reference"
    # Equal prices, equal colours.
    price = UnitCost().explain(graph, reference=reference).substitution.numpy().round(9)
    colours = points.get_facecolors()
    for a in range(graph.num_nodes):
        for b in range(graph.num_nodes):
            assert (price[a] == price[b]) == np.allclose(colours[a], colours[b])


def test_a_molecule_is_drawn_by_rdkit(tmp_path):
    pytest.importorskip("rdkit")
    figure = epic.view.costs(molecule("c1ccccc1O"), FeatureCost(), path=tmp_path / "costs.png")
    assert len(figure.axes[0].images) == 1
    assert figure.axes[1].get_ylabel() == "deletion cost"


def test_an_explanation_is_drawn_as_the_cost_that_gave_it():
    graph, reference = lollipop_graph(4, 3), lollipop(8, seed=0)
    given = epic.view.costs(graph, UnitCost().explain(graph, reference=reference))
    made = epic.view.costs(graph, UnitCost(), reference=reference)
    assert given.axes[1].get_ylabel() == made.axes[1].get_ylabel() == "mean substitution cost to the reference"
    one, other = (figure.axes[0].collections[1].get_facecolors() for figure in (given, made))
    assert np.array_equal(one, other)
    with pytest.raises(InputError, match="costs of 7 nodes do not belong to a graph of 4 nodes"):
        epic.view.costs(lollipop_graph(3, 1), UnitCost().explain(graph))


@pytest.mark.parametrize("nodes", [0, 1])
def test_tiny_graphs_can_be_drawn(tmp_path, nodes):
    epic.view.costs(random_graph(np.random.default_rng(0), nodes), FeatureCost(), path=tmp_path / "costs.png")
    assert (tmp_path / "costs.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"show": "deletoin"}, "did you mean 'deletion'"),
        ({"show": "substitution"}, "give them as reference="),
        ({"path": "costs.html"}, "must end in .png, .svg, .pdf"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        epic.view.costs(lollipop_graph(3, 1), UnitCost(), **options)
