from dataclasses import replace

import numpy as np
import pytest
import torch

from epic import InputError
from epic.augment import SMixup
from epic.augment.learn_matching import Matching, _parts, train_matching
from epic.data import lollipop
from epic.graphs.convert import pack
from epic.nn.fit_loop import FitLoop
from epic.nn.matching_network import MatchingNetwork
from tests.sample_graphs import random_graph


def sparse_and_dense(count=60, seed=0, num_classes=(0, 1)):
    rng = np.random.default_rng(seed)
    density = (0.15, 0.8)
    return pack(
        [
            random_graph(
                rng,
                int(rng.integers(5, 12)),
                density=density[k % 2],
                x="onehot",
                edge_width=None,
                y=[num_classes[k % 2]],
            )
            for k in range(count)
        ]
    )


def learn(graphs, hidden_channels=8, num_layers=1, **options):
    return train_matching(
        graphs, Matching(**options), hidden_channels=hidden_channels, num_layers=num_layers, progress=False
    )


def test_triplets_to_choose_the_epoch_by_are_not_learned_from(monkeypatch):
    graphs = sparse_and_dense(40)
    graphs = replace(graphs, node={"x": graphs.graph_of_node[:, None].float()})  # every graph has a name
    seen = {True: set(), False: set()}
    distances = MatchingNetwork.distances

    def spy(self, found, one, two):
        names = found.x[found.ptr[:-1], 0].long()
        learning = torch.is_grad_enabled()
        if learning or not self.training:  # not when averages of BatchNorm are taken
            seen[learning] |= set(names[torch.cat([one, two])].tolist())
        return distances(self, found, one, two)

    monkeypatch.setattr(MatchingNetwork, "distances", spy)
    _, history = learn(graphs, epochs=2, validation=0.25)
    assert (len(seen[True]), len(seen[False])) == (30, 10)
    assert not seen[True] & seen[False]
    assert all(line.validation is not None for line in history)


@pytest.mark.slow
def test_it_learns_to_put_graphs_in_order():
    graphs = sparse_and_dense()
    network, history = learn(graphs, 16, 2, epochs=20, batch_size=8)
    assert history[0].loss > 0.3
    assert max(e.ordered for e in history) > 0.9  # by chance: 0.5
    unseen = sparse_and_dense(40, seed=1)
    even = torch.arange(0, 40, 2)
    near = network.distances(unseen, even, even.roll(1))
    far = network.distances(unseen, even, even + 1)
    assert float((near < far).float().mean()) > 0.9


def test_the_best_epoch_is_kept():
    """The network returned has the loss of the best line of the history on held out triplets."""
    graphs = sparse_and_dense(40)
    best = learn(graphs, epochs=6, lr=0.03)
    line = min(range(len(best[1])), key=lambda k: best[1][k].judged)
    again = learn(graphs, epochs=line + 1, lr=0.03)
    for a, b in zip(best[0].parameters(), again[0].parameters(), strict=True):
        assert torch.equal(a, b)


def test_it_is_a_function_of_the_seed():
    graphs = sparse_and_dense(20)
    state = torch.random.get_rng_state()
    one, two, other = (learn(graphs, epochs=1, seed=seed)[0].last[0].weight for seed in (0, 0, 1))
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
    network, _ = learn(replace(graphs, y=noise), 16, 2, epochs=8, validation=0.0)
    half = torch.arange(20)
    assert float(network.distances(graphs, half, half + 20).mean()) > 0.1


def test_one_class_is_refused():
    with pytest.raises(InputError, match="class"):
        learn(sparse_and_dense(num_classes=(1, 1)))


def test_a_network_is_learned_once(tmp_path, monkeypatch):
    """Other settings of the method use it again; other graphs, seeds or options learn another."""
    graphs = lollipop(40, seed=0)
    for g in graphs:
        g.x = torch.ones(g.num_nodes, 1)
    learned = []
    train_epoch = FitLoop.train_epoch
    monkeypatch.setattr(FitLoop, "train_epoch", lambda loop, *a: learned.append(1) or train_epoch(loop, *a))

    def fit(chosen=graphs, seed=0, epochs=1, **settings):
        method = SMixup(seed=seed, hidden_channels=8, num_layers=1, **settings)
        before = len(learned)
        method.fit(chosen, epochs=epochs, folder=tmp_path, progress=False)
        return method, len(learned) > before

    (one, first), (two, again) = fit(), fit(alpha=0.3, temperature=0.1)
    assert (first, again) == (True, False)
    assert all(torch.equal(a, b) for a, b in zip(one.network.parameters(), two.network.parameters(), strict=True))
    assert [e.loss for e in one.history_] == [e.loss for e in two.history_]
    assert not two.network.training
    assert all(found for _, found in (fit(seed=1), fit(epochs=2), fit(graphs[:30])))
