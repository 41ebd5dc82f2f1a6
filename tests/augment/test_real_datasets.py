"""EPIC on every dataset of the paper, as it is on disk."""

import os

import pytest
import torch

from epic import EPIC, LearnedCost
from epic.data import load
from epic.data.splits import split_of
from epic.graphs.convert import pack
from epic.train.loop import with_features

SETS = {
    **dict.fromkeys(("NCI1", "BZR", "COX2", "IMDB-BINARY", "IMDB-MULTI", "PROTEINS", "ENZYMES"), 0),
    "Mutagenicity": 3,
    "ogbg-molbbbp": 3,
    "ogbg-molbace": 3,
    "ogbg-molhiv": 3,
}
"""Columns of edge attributes; 0 where there are none."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_epic_keeps_features_and_edge_attributes(name):
    if "EPIC_DATA" not in os.environ:
        pytest.skip("set EPIC_DATA to a folder with tu/ and ogb/ to test on real data")
    dataset = load(name, download=False)
    split = split_of(dataset.y, official=dataset.split)
    train = with_features(dataset.graphs, split.train).select(split.train[:: max(1, len(split.train) // 200)])
    cost = LearnedCost(hidden_channels=8, num_layers=1).fit(train, validation=0, epochs=1, seed=0, progress=False)
    degrees = True if dataset.graphs.x is None else None
    augment = EPIC(cost, ratio=1.0, seed=0, degree_features=degrees).fit(train)
    out = augment(train.select(torch.arange(64)))
    made = pack(out)  # refuses edges between graphs and out of range
    assert len(made) == 128
    assert int(made.sizes.min()) >= 1
    assert out.x.dtype == train.x.dtype
    assert out.x.shape[1] == train.x.shape[1]
    if SETS[name] == 0:
        assert "edge_attr" not in out
    else:
        assert out.edge_attr.shape == (out.edge_index.shape[1], SETS[name])
        assert out.edge_attr.dtype == train.edge_attr.dtype
        rows = {tuple(r) for r in train.edge_attr.unique(dim=0).tolist()}
        assert {tuple(r) for r in out.edge_attr.unique(dim=0).tolist()} <= rows
    known = {tuple(r) for r in train.x.unique(dim=0).tolist()}
    if degrees is None:
        assert {tuple(r) for r in out.x.unique(dim=0).tolist()} <= known
    # Undirected in, undirected out.
    u, v = out.edge_index
    assert torch.equal((u * out.num_nodes + v).sort().values, (v * out.num_nodes + u).sort().values)
