"""What a page draws is what ``path[k]`` holds."""

import json
from collections import Counter

import numpy as np
import pytest
import torch

from epic import EPIC, FeatureCost, edit_path
from epic.data import lollipop, lollipop_graph
from epic.view.frames import frames
from epic.view.names import Names, names_of
from tests.sample_graphs import random_graph


def alive(items, k):
    return [item for item in items if item[-2] <= k < item[-1]]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("x", ["float", "int", "onehot", None])
def test_every_frame_is_the_graph_of_its_step(x, directed):
    rng = np.random.default_rng(3)
    for sizes in ((9, 6), (5, 11), (1, 4), (0, 3)):
        ends = [random_graph(rng, n, directed=directed, loops=True, x=x, y=[k]) for k, n in enumerate(sizes)]
        path = edit_path(*ends, cost=FeatureCost(), seed=1)
        data = json.loads(json.dumps(frames(path, Names())))
        for k in range(len(path) + 1):
            graph, nodes, edges = path[k], alive(data["nodes"], k), alive(data["edges"], k)
            assert len(nodes) == graph.num_nodes
            assert sum(e[2] + e[3] for e in edges) == graph.edge_index.shape[1]
            # And the same ones: which node of which end, and which of them are joined.
            place = {(n[3], n[2] in (1, 3)): n[0] for n in nodes}
            names = [
                place[(t, True) if t >= 0 else (s, False)]
                for s, t in zip(graph.source_node.tolist(), graph.target_node.tolist(), strict=True)
            ]
            wanted = Counter((names[a], names[b]) for a, b in graph.edge_index.T.tolist())
            drawn = Counter()
            for a, b, ways, back, *_ in edges:
                drawn[(a, b)] += ways
                drawn[(b, a)] += back
            assert +drawn == wanted


def test_fates_tell_what_becomes_of_nodes_and_edges():
    path = edit_path(lollipop_graph(5, 3), lollipop_graph(3, 2), seed=0)
    data = frames(path, Names())
    kinds = Counter(op.kind for op in path.operations)
    fates = Counter(n[2] for n in data["nodes"])
    assert kinds == {"substitute": 5, "delete": 3}
    assert fates == {0: kinds["substitute"], 1: kinds["substitute"], 2: kinds["delete"]}
    source, target = ({e[:2] for e in alive(data["edges"], k)} for k in (0, len(path)))
    for edge in data["edges"]:
        assert edge[6] == (0 if edge[:2] in source & target else 1 if edge[:2] in source else 2)
    assert [o[3] for o in data["operations"]] == pytest.approx([op.cost for op in path.operations])


def test_the_soft_label_can_be_mixed_from_both_ends():
    train = lollipop(16, seed=0)
    path = edit_path(train[0], train[3], seed=0, num_classes=4)
    data = frames(path, names_of(None))
    label = data["label"]
    assert label["names"] == ["class 0", "class 1", "class 2", "class 3"]
    for k in range(len(path) + 1):
        w = data["spent"][k]
        mixed = [(1 - w) * s + w * t for s, t in zip(label["source"], label["target"], strict=True)]
        assert mixed == pytest.approx(path.label(k).tolist(), abs=1e-5)


@pytest.mark.parametrize(
    ("y", "kind", "ends"),
    [
        ((torch.tensor([[0.0]]), torch.tensor([[1.0]])), "classes", ([1, 0], [0, 1])),
        ((torch.tensor([[0.25]]), torch.tensor([[0.5]])), "values", ([0.25], [0.5])),
        ((torch.tensor([[1.0, torch.nan]]), torch.tensor([[1.0, 0.0]])), "tasks", ([1, None], [1, 0])),
        ((torch.tensor([[-3.5]]), torch.tensor([[torch.nan]])), "values", ([-3.5], [None])),
    ],
)
def test_labels_of_every_kind(y, kind, ends):
    graphs = [lollipop_graph(3, n) for n in (1, 2)]
    for graph, label in zip(graphs, y, strict=True):
        graph.y = label
    found = frames(edit_path(*graphs), Names())["label"]
    assert (found["kind"], found["source"], found["target"]) == (kind, *ends)


def test_labels_that_change_on_the_way_are_followed():
    """EPIC recomputes degree features after each edit, so that labels change on the way."""
    graphs = lollipop(40, seed=0)
    for g in graphs:
        degree = torch.bincount(g.edge_index[0], minlength=g.num_nodes)
        g.x = torch.nn.functional.one_hot(degree, 12).float()
    path = EPIC(cost=FeatureCost(), degree_features=True).fit(graphs).path(graphs[0], graphs[7], seed=0)
    data = frames(path, Names())
    for k in range(len(path) + 1):
        shown = Counter(data["tags"][n[1]][0] for n in alive(data["nodes"], k))
        assert shown == Counter(str(i) for i in path[k].x.argmax(1).tolist())
