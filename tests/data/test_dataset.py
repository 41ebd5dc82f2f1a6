from dataclasses import replace

import pytest
import torch
from torch_geometric.loader import DataLoader

from epic import EPIC, InputError, LearnedCost, UnitCost
from epic.data import Dataset, load, lollipop, write_graphs
from epic.graphs.convert import pack
from tests.graphs.test_convert import same


def small() -> Dataset:
    return Dataset("small", pack(lollipop(12, seed=0)), "classes")


def test_a_dataset_is_a_sequence_of_its_graphs():
    dataset = small()
    for g, graph in enumerate(dataset):
        same(graph, dataset.graphs.graph(g))
    same(dataset[-1], dataset.graphs.graph(11))
    assert len(dataset[2:5]) == 3
    assert repr(dataset).startswith("Dataset(small: 12 graphs, ")
    assert repr(dataset).endswith("; classes)")
    assert "\n" not in repr(dataset)


def test_it_goes_where_graphs_go():
    dataset = small()
    assert pack(dataset) is dataset.graphs
    assert [batch.num_graphs for batch in DataLoader(dataset, batch_size=8)] == [8, 4]
    method = EPIC(UnitCost(), seed=0).fit(dataset)
    (batch,) = method.loader(dataset, batch_size=12)
    assert batch.num_graphs == len(dataset) + int(batch.augmented.sum()) > 12
    (first,) = EPIC(UnitCost(), seed=0).loader(dataset, batch_size=12)  # it knows its classes, so no fit is needed
    assert torch.equal(first.y, batch.y)


def test_a_method_takes_its_word_for_what_labels_are():
    graphs = small().graphs
    told = Dataset("told", replace(graphs, y=(graphs.y[:, None] > 1).float()), "values")
    assert EPIC(UnitCost()).fit(told).task_ == "values"
    assert EPIC(UnitCost()).fit(told.graphs).task_ == "binary"
    assert EPIC(UnitCost(), task="binary").fit(told).task_ == "binary"


def test_classes_below_0_are_refused_at_once(tmp_path):
    graphs = small().graphs
    signed = replace(graphs, y=2 * (graphs.y > 1).long() - 1)
    write_graphs(tmp_path / "signed.safetensors", signed)
    for refuses in (
        lambda: load(tmp_path / "signed.safetensors"),
        lambda: LearnedCost().fit(signed),
        lambda: EPIC(UnitCost()).fit(signed),
        lambda: EPIC(UnitCost(), num_classes=2).fit(signed),
    ):
        with pytest.raises(InputError, match="class index -1 is negative: number the classes from 0"):
            refuses()


def test_infinite_labels_are_refused(tmp_path):
    graphs = small().graphs
    y = torch.linspace(0, 1, 12)
    y[7] = float("inf")
    write_graphs(tmp_path / "far.safetensors", replace(graphs, y=y))
    with pytest.raises(InputError, match="the label of graph 7 is infinite"):
        load(tmp_path / "far.safetensors")
