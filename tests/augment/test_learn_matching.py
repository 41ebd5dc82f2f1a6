from dataclasses import replace

import numpy as np
import pytest
import torch

from epic import InputError
from epic.augment.learn_matching import Matching, _parts, _watched, train_matching
from epic.graphs.convert import pack
from tests.sample_graphs import random_graph


def sparse_and_dense(count=60, seed=0, num_classes=(0, 1)):
    rng = np.random.default_rng(seed)
    density = (0.15, 0.8)
    return pack(
        [
            random_graph(
                rng, int(rng.integers(5, 12)), density[k % 2], x="onehot", edge_width=None, y=[num_classes[k % 2]]
            )
            for k in range(count)
        ]
    )


def test_triplets_to_choose_the_epoch_by_are_not_learned_from():
    graphs = sparse_and_dense(40)
    graphs = replace(graphs, node={"x": graphs.graph_of_node[:, None].float()})  # every graph has a name
    known, watched = _watched(graphs, 0.25, seed=0)
    names = set(known.x[known.ptr[:-1], 0].long().tolist())
    seen = {g for part in watched for g in part.tolist()}
    assert len(names) == 30
    assert seen
    assert not names & seen
    anchor, positive, negative = (graphs.y[part] for part in watched)
    assert torch.equal(anchor, positive)
    assert not (anchor == negative).any()


def test_it_learns_to_put_graphs_in_order():
    graphs = sparse_and_dense()
    network, history = train_matching(graphs, 16, 2, 0, Matching(epochs=20, batch_size=8, progress=False))
    assert history[0]["loss"] > 0.3
    assert max(e["ordered"] for e in history) > 0.95  # by chance: 0.5
    unseen = sparse_and_dense(40, seed=1)
    even = torch.arange(0, 40, 2)
    near = network.distances(unseen, even, even.roll(1))
    far = network.distances(unseen, even, even + 1)
    assert float((near < far).float().mean()) > 0.9


def test_the_best_epoch_is_kept():
    """The network returned has the loss of the best line of the history on held out triplets."""
    graphs = sparse_and_dense(40)
    best = train_matching(graphs, 8, 1, 0, Matching(epochs=6, progress=False, lr=0.03))
    line = min(range(len(best[1])), key=lambda k: best[1][k]["judged"])
    again = train_matching(graphs, 8, 1, 0, Matching(epochs=line + 1, progress=False, lr=0.03))
    for a, b in zip(best[0].parameters(), again[0].parameters(), strict=True):
        assert torch.equal(a, b)


def test_it_is_a_function_of_the_seed():
    graphs = sparse_and_dense(20)
    state = torch.random.get_rng_state()
    one, two, other = (
        train_matching(graphs, 8, 1, seed, Matching(epochs=1, progress=False))[0].last[0].weight for seed in (0, 0, 1)
    )
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(one, two)
    assert not torch.equal(one, other)


def test_parts_are_bounded_and_complete(monkeypatch):
    monkeypatch.setattr("epic.augment.learn_matching.STEP", 100)
    graphs = sparse_and_dense(30)
    triplets = tuple(torch.randint(30, (50,), generator=torch.Generator().manual_seed(k)) for k in range(3))
    found = list(_parts(graphs, *triplets))
    assert len(found) > 5
    for k in range(3):
        assert torch.cat([part[k] for part in found]).tolist() == triplets[k].tolist()
    for a, p, n in found:
        assert int((2 * graphs.sizes[a] + graphs.sizes[p] + graphs.sizes[n]).sum()) < 100 + 4 * 12


def test_vectors_of_graphs_do_not_fall_together():
    """Labels at random cannot be learned, and all vectors at one point would be the cheapest way out."""
    graphs = sparse_and_dense(40)
    noise = torch.randint(2, (40,), generator=torch.Generator().manual_seed(0))
    network, _ = train_matching(replace(graphs, y=noise), 16, 2, 0, Matching(epochs=8, held=0.0, progress=False))
    half = torch.arange(20)
    assert float(network.distances(graphs, half, half + 20).mean()) > 0.1


def test_one_class_is_refused():
    with pytest.raises(InputError, match="class"):
        train_matching(sparse_and_dense(num_classes=(1, 1)), 8, 1, 0, Matching(progress=False))
