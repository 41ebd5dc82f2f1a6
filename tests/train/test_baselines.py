from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import from_networkx

from epic import InputError
from epic.data import Dataset, load, stratified_split
from epic.graphs.convert import pack
from epic.testing import random_graphs
from epic.train.baselines import BASELINES, circular_fingerprints, ecfp_classifier, label_counts
from epic.train.config import run_config
from epic.train.loop import with_features
from epic.train.metrics import score
from epic.train.run import run


def labelled(graph, labels):
    data = from_networkx(graph)
    return Data(edge_index=data.edge_index, x=torch.tensor(labels)[:, None], num_nodes=len(labels))


def test_counts_are_of_nodes_edges_and_labels():
    graphs = pack([labelled(nx.path_graph(3), [0, 2, 2]), labelled(nx.complete_graph(4), [1, 1, 1, 0])])
    found = label_counts(Dataset("two", replace(graphs, y=torch.tensor([0, 1])), "classes"))
    counts = np.array([[3, 4, 1, 0, 2], [4, 12, 1, 3, 0]])
    assert np.allclose(found, np.concatenate([counts, np.log1p(counts), counts[:, 1:] / counts[:, :1]], 1))


def test_degree_features_are_structure_and_are_left_out():
    dataset = load("lollipop")
    graphs = with_features(dataset.graphs, torch.arange(len(dataset)))
    assert label_counts(replace(dataset, graphs=graphs, degree_features=True)).shape[1] == 5
    assert label_counts(replace(dataset, graphs=graphs)).shape[1] > 5


def neighbourhoods(graph, labels, radius):
    """The same by sorted tuples instead of hashes."""
    names = {v: (labels[v],) for v in graph}
    found = set(names.values())
    for _ in range(radius):
        names = {v: (names[v], tuple(sorted((names[u] for u in graph[v]), key=repr))) for v in graph}
        found |= set(names.values())
    return found


def test_fingerprints_are_sets_of_neighbourhoods():
    """With so many bits that none is shared, against a slow reference."""
    rng = np.random.default_rng(0)
    graphs = [nx.gnp_random_graph(int(rng.integers(1, 9)), 0.4, seed=int(s)) for s in rng.integers(10**6, size=30)]
    labels = [rng.integers(2, size=len(g)).tolist() for g in graphs]
    slow = [neighbourhoods(g, names, 2) for g, names in zip(graphs, labels, strict=True)]
    packed = pack([labelled(g, names) for g, names in zip(graphs, labels, strict=True)])
    fast = circular_fingerprints(packed, bits=1_000_003).astype(bool)
    assert [len(s) for s in slow] == fast.sum(1).tolist()
    for i in range(30):
        assert [len(slow[i] & s) for s in slow] == (fast[i] & fast).sum(1).tolist()


def test_a_bond_and_an_order_of_nodes():
    ring = labelled(nx.cycle_graph(5), [0, 0, 1, 0, 0])
    turned = labelled(nx.cycle_graph(5), [0, 1, 0, 0, 0])
    double = ring.clone()
    double.edge_attr = torch.ones(10, 1, dtype=torch.long)
    single = ring.clone()
    single.edge_attr = torch.zeros(10, 1, dtype=torch.long)
    assert np.array_equal(*circular_fingerprints(pack([ring, turned])))
    assert not np.array_equal(*circular_fingerprints(pack([single, double])))
    with pytest.raises(InputError, match="need node features"):
        circular_fingerprints(pack([Data(edge_index=ring.edge_index, num_nodes=5)]))


@pytest.mark.slow
@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("task", ["classes", "binary", "values"])
def test_baselines_learn_what_is_there_to_count(name, task):
    """The label is the number of nodes labelled 1, and one task is missing for some graphs."""
    rng = np.random.default_rng(1)
    graphs = [labelled(nx.path_graph(6), rng.integers(2, size=6).tolist()) for _ in range(150)]
    ones = torch.tensor([float(g.x.sum()) for g in graphs])
    y = {"classes": (ones > 3).long(), "binary": torch.stack([ones > 3, ones < 2], 1).float(), "values": ones[:, None]}
    target = y[task].clone()
    if task == "binary":
        target[::5, 1] = torch.nan
    dataset = Dataset("ones", replace(pack(graphs), y=target), task)
    split = stratified_split((ones > 3).long())
    found = BASELINES[name](dataset, split, seed=0)
    assert found["test"].shape == (len(split.test), {"classes": 2, "binary": 2, "values": 1}[task])
    assert score(found["test"], y[task][split.test], task) > {"classes": 0.85, "binary": 0.85, "values": -0.8}[task]
    again = BASELINES[name](dataset, split, seed=0)
    assert all(torch.equal(again[part], found[part]) for part in found)


def test_one_class_in_training_is_no_error():
    dataset = Dataset(
        "x", replace(pack([labelled(nx.path_graph(3), [0, 1, 1])] * 40), y=torch.arange(40) % 2), "classes"
    )
    split = stratified_split(dataset.y)
    split = replace(split, train=split.train[dataset.y[split.train] == 1])
    assert (ecfp_classifier(dataset, split)["test"].argmax(1) == 1).all()


def test_a_run_of_a_baseline_has_what_a_record_needs(tmp_path):
    config = run_config(dataset="lollipop", backbone="counts", split="folds", split_seed=3, outputs=True)
    record = run(config, tmp_path, progress=False)
    assert record["sizes"][2] == len(record["outputs"]["test"]) == len(set(record["graphs"]["test"]))
    assert not set(record["graphs"]["test"]) & set(record["graphs"]["validation"])
    assert 0 <= record["test"] <= 1
    assert sum(record["outputs"]["test"][0]) == pytest.approx(10_000, abs=2)


def test_fingerprints_need_node_labels():
    graphs = pack(random_graphs(12))  # real numbers in x
    with pytest.raises(InputError, match="ecfp needs node labels, and mine has none"):
        BASELINES["ecfp"](Dataset("mine", graphs, "classes"), stratified_split(graphs.y))
