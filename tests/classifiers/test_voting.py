import numpy as np
import pytest
import torch

from epic import InputError, UnitCost
from epic.classifiers.voting import best_k, choices, class_labels, validate, vote
from epic.data import lollipop, lollipop_graph
from epic.distance.nearest import Neighbors
from epic.graphs.convert import pack


def found(distance, k):
    """What a search for k neighbours among all columns gives."""
    d = torch.tensor(distance, dtype=torch.double)
    near = d.sort(dim=1, stable=True)
    limit = near.values[:, k - 1 : k]
    rows = [(q, int(j)) for q in range(len(d)) for j in near.indices[q] if d[q, j] <= limit[q]]
    tied = torch.tensor(rows)
    return Neighbors(near.indices[:, :k], near.values[:, :k].float(), 0, tied, d[tied[:, 0], tied[:, 1]], 1e-12)


def test_votes_by_hand():
    label = np.array([2, 0, 0, 1])
    away = [[1.0, 2.0, 4.0, 9.0], [1.0, 1.0, 9.0, 1.0], [3.0, 0.0, 9.0, 0.0]]
    share, winner = vote(found(away, 3), label, 3)
    assert share.tolist() == [[2 / 3, 0, 1 / 3], [1 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]]
    assert winner.tolist() == [0, 2, 0]  # of equal votes, the nearest neighbour's class
    share, winner = vote(found(away, 3), label, 3, weights="distance")
    assert np.allclose(share, [[0.75 / 1.75, 0, 1 / 1.75], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0]])
    assert winner.tolist() == [2, 2, 0]
    # One neighbour asked for: all that are as near as it vote.
    share, winner = vote(found(away, 3), label, 3, k=1)
    assert np.allclose(share, [[0, 0, 1], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0]])
    assert np.allclose(vote(found(away, 1), label, 3)[0], share)
    with np.errstate(all="raise"):
        share, winner = vote(found([[1e-30, 1e-30, 1.0, 2.0]], 3), label, 3, weights="distance")
    assert np.allclose(share, [[0.5, 0, 0.5]])


def test_twins_vote_together_whatever_the_order_of_training_graphs():
    """Half of these graphs have twins of another class: the first of them must not decide alone."""
    twins = [lollipop_graph(4, 3, 0)] * 3 + [lollipop_graph(4, 3, 1)] * 5 + [lollipop_graph(6, 3, 0)] * 2
    for order in (range(10), reversed(range(10))):
        train = pack([twins[i] for i in order])
        near = UnitCost().nearest([lollipop_graph(4, 3, 0)], train, k=1, progress=False)
        share, winner = vote(near, train.y.numpy(), 2)
        assert share.tolist() == [[3 / 8, 5 / 8]]
        assert winner.tolist() == [1]


def test_labels_of_every_shape_that_names_one_class():
    graphs = pack(lollipop(3, seed=0))
    for y in (torch.tensor([1, 0, 2]), torch.tensor([[1.0], [0.0], [2.0]]), np.array([1, 0, 2]), [1, 0, 2]):
        found = class_labels(graphs, y)
        assert found.tolist() == [1, 0, 2]
        assert found.dtype.kind == "i"
    assert class_labels(graphs).tolist() == [0, 1, 2]
    assert class_labels(graphs, ["b", "a", "b"]).tolist() == ["b", "a", "b"]
    for y, message in (
        (torch.eye(3), r"shape \(3, 3\)"),
        ([0, 1], r"shape \(2,\)"),
        (torch.tensor([0.0, float("nan"), 1.0]), "NaN"),
        ([0.5, 1.0, 2.0], "not classes"),
    ):
        with pytest.raises(InputError, match=message):
            class_labels(graphs, y)


def test_choices_rise_and_fit():
    assert choices(None, [7, 1, 3, 3, 50], 10) == (1, 3, 7)
    assert choices(4, (1,), 10) == (4,)
    with pytest.raises(InputError, match="positive integer, got 0"):
        choices(None, (1, 0), 10)
    with pytest.raises(InputError, match="n_neighbors = 11, but there are 10 graphs"):
        choices(11, (), 10)


def test_validation_scores_by_hand():
    # Counted operations see the number of nodes only, and here it tells the class.
    train, held = pack(lollipop(20, heads=(3, 30), seed=0)), pack(lollipop(6, heads=(3, 30), seed=1))
    assert validate(UnitCost(), train, held, grid=(1, 5, 99), progress=False) == {1: 1.0, 5: 1.0}
    # With as many neighbours as graphs all classes tie, and the nearest decides.
    assert validate(UnitCost(), train, held, grid=(20,), progress=False) == {20: 1.0}
    assert best_k({5: 1.0, 1: 1.0}) == 1
    with pytest.raises(InputError, match="unknown weights"):
        validate(UnitCost(), train, held, weights="even")
