"""The kernel machine against scikit-learn's, built by hand on the whole matrix of distances."""

import numpy as np
import pytest
import torch
from sklearn.base import clone, is_classifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.svm import SVC
from torch_geometric.data import Batch, Data

from epic import EditKernelClassifier, EditNeighbors, FeatureCost, InputError, LearnedCost, UnitCost
from epic.classifiers.calibration import temperature
from epic.classifiers.kernel import mutual_distances
from epic.costs import NodeCosts
from epic.data import load, lollipop, stratified_folds, stratified_split
from epic.data.splits import hold_out
from epic.distance.pairs import embed_all
from epic.graphs.convert import pack
from tests.classifiers.test_neighbors import three

SMALL = {"hidden_channels": 8, "num_layers": 2}


@pytest.fixture(scope="module")
def learned():
    return LearnedCost(**SMALL).fit(three(45, 0), epochs=3, progress=False)


@pytest.fixture(params=["unit", "feature", "learned"])
def cost(request, learned):
    return {"unit": UnitCost(), "feature": FeatureCost(), "learned": learned}[request.param]


def labels(graphs):
    return np.array([int(g.y) for g in graphs])


def decide(kernel, y, query, c):
    """Decision values of scikit-learn's machines, each of which tells one class from the rest."""
    machines = [SVC(kernel="precomputed", C=c).fit(kernel, y == k) for k in np.unique(y)]
    return np.stack([m.decision_function(query) for m in machines], axis=1)


def by_hand(cost, train, test, gamma, c):
    among = cost.distances(train, progress=False).double().numpy()
    unit = np.median(among[among > 0])
    query = np.exp(-gamma * cost.distances(test, train, progress=False).double().numpy() / unit)
    return decide(np.exp(-gamma * among / unit), labels(train), query, c)


@pytest.mark.parametrize(("gamma", "c"), [(0.3, 10.0), (3, 1)])
def test_against_scikit_learn(cost, gamma, c):
    train, test = three(40, 1), three(15, 2)
    model = EditKernelClassifier(gamma=gamma, C=c, cost=cost, progress=False).fit(train)
    decision = by_hand(cost, train, test, gamma, c)
    found = model.predict_proba(test)
    expected = np.exp(decision / model.temperature_)
    assert np.allclose(found, expected / expected.sum(1, keepdims=True), atol=1e-4)
    assert model.predict(test).tolist() == decision.argmax(1).tolist()
    assert model.predict(Batch.from_data_list(test)).tolist() == decision.argmax(1).tolist()
    assert model.score(test) == np.mean(decision.argmax(1) == labels(test))
    assert model.score(test, model.predict(test)) == 1.0
    assert (model.gamma_, model.C_) == (gamma, c)


def test_two_classes_share_one_decision_value():
    train, test = lollipop(40, heads=(4, 7), seed=0), lollipop(20, heads=(4, 7), seed=1)
    model = EditKernelClassifier(gamma=1.0, C=1.0, cost=UnitCost(), progress=False).fit(train)
    decision = by_hand(UnitCost(), train, test, 1.0, 1.0)
    assert np.allclose(decision[:, 0], -decision[:, 1], atol=1e-3)
    assert np.allclose(model.predict_proba(test)[:, 1], 1 / (1 + np.exp(-decision[:, 1] / model.temperature_)))
    assert np.allclose(model.predict_proba(test).sum(1), 1)


def test_settings_are_those_of_the_lowest_log_loss():
    graphs = three(60, 3)
    model = EditKernelClassifier(gamma=[0.1, 2.0], C=(1.0, 50.0), cost=UnitCost(), seed=4, progress=False).fit(graphs)
    y, parts = labels(graphs), stratified_folds(torch.tensor(labels(graphs)), folds=5, seed=4)
    unit = UnitCost().distances(graphs, progress=False).double()
    scale = np.median(unit[unit > 0].numpy())
    losses, decisions = {}, {}
    for gamma, c in model.validation_:
        kernel = np.exp(-gamma * unit.numpy() / scale)
        decision = np.empty((60, 3))
        for part in parts:
            rest = np.setdiff1d(np.arange(60), part.test)
            decision[part.test] = decide(kernel[np.ix_(rest, rest)], y[rest], kernel[np.ix_(part.test, rest)], c)
        decisions[gamma, c] = decision
        shares = [np.exp(decision / t) for t in np.geomspace(0.05, 50, 200)]  # the best temperature, by trying many
        losses[gamma, c] = min(log_loss(y, s / s.sum(1, keepdims=True)) for s in shares)
    assert list(losses) == [(0.1, 1.0), (0.1, 50.0), (2.0, 1.0), (2.0, 50.0)]
    assert model.validation_ == pytest.approx(losses, abs=2e-3)
    best = min(losses, key=losses.get)
    assert (model.gamma_, model.C_) == best != list(losses)[-1]
    assert model.temperature_ == pytest.approx(temperature(decisions[best], y), rel=1e-3)
    assert model.gamma == [0.1, 2.0]  # a parameter, not a result


class OneWay(FeatureCost):
    """Insertions cost more than deletions, and substitutions depend on the direction."""

    def embed(self, graphs):
        nodes = super().embed(graphs)
        return NodeCosts(nodes.embedding, nodes.deletion, 2 * nodes.insertion, nodes.ptr)

    def substitution(self, source, target):
        return (target[..., None, :, :1] - source[..., :, None, :1]).clamp_min(0).sum(-1)


def test_distances_of_two_directions_are_averaged():
    a, b = pack(three(9, 1)), pack(three(7, 2))
    cost = OneWay()
    there, back = cost.distances(a, b, progress=False).numpy(), cost.distances(b, a, progress=False).numpy()
    assert np.abs(there - back.T).max() > 1
    one, other = embed_all(cost, a), embed_all(cost, b)
    found = mutual_distances(cost, one, other, progress=False)
    assert np.allclose(found, (there + back.T) / 2, rtol=1e-5)
    among = mutual_distances(cost, one, one, progress=False)
    assert np.allclose(among, among.T)
    assert np.allclose(among, mutual_distances(cost, one, embed_all(cost, a), progress=False), rtol=1e-5)
    model = EditKernelClassifier(cost=cost, progress=False).fit(three(40, 1))
    assert model.score(three(40, 1)) > 0.6


def test_probabilities_are_right_as_often_as_they_say():
    """Classes overlap: the size of a graph tells the odds of its class, and no more."""
    rng = np.random.default_rng(0)
    size = rng.integers(2, 20, 1400)
    chance = 1 / (1 + np.exp(-(size - 11) / 3))
    y = (rng.random(1400) < chance).astype(int)
    graphs = [Data(num_nodes=int(n), edge_index=torch.zeros(2, 0).long()) for n in size]
    model = EditKernelClassifier(cost=UnitCost(), progress=False).fit(graphs[:400], y[:400])
    found = model.predict_proba(graphs[400:])[:, 1]
    assert np.abs(found - chance[400:]).mean() < 0.1
    best = log_loss(y[400:], chance[400:])
    assert best < log_loss(y[400:], found) < best + 0.05


def test_validation_graphs_cool_what_is_too_sure():
    train, held = lollipop(60, heads=(3, 12), seed=0), lollipop(40, heads=(3, 12), seed=1)
    model = EditKernelClassifier(gamma=1.0, C=1.0, cost=UnitCost(), progress=False)
    sure = model.fit(train).predict_proba(held)
    assert sure.max(1).min() > 0.9
    for i, g in enumerate(held):
        g.y = torch.tensor([i // 2 % 2])  # says nothing of the graph
    assert np.allclose(model.fit(train, validation=held).predict_proba(held), 0.5, atol=0.01)


def test_graphs_left_out_of_learning_calibrate(monkeypatch):
    found = []

    def spy(scores, code):
        found.append((temperature(scores, code), code.tolist()))
        return found[-1][0]

    monkeypatch.setattr("epic.classifiers.kernel.temperature", spy)
    graphs = three(60, 0)
    model = EditKernelClassifier(gamma=1.0, C=1.0, cost=LearnedCost(**SMALL), progress=False).fit(graphs, epochs=2)
    unseen = hold_out(torch.tensor(labels(graphs)), share=0.1, least=2, seed=0)[1]
    everyone, others = found[-2:]
    assert everyone[1] == labels(graphs).tolist()
    assert others[1] == labels(graphs)[unseen].tolist()
    assert model.temperature_ == max(everyone[0], others[0])
    assert everyone[0] != others[0]


@pytest.mark.slow
def test_cost_is_learned_as_by_neighbours():
    train, test = lollipop(40, seed=0), lollipop(20, seed=1)
    blank = LearnedCost(**SMALL)
    model = EditKernelClassifier(cost=blank, seed=3, progress=False).fit(train, epochs=2)
    near = EditNeighbors(cost=blank, seed=3, progress=False).fit(train, epochs=2)
    assert not blank.fitted
    assert model.cost is blank
    expected = near.cost_.distances(test, train, progress=False)
    assert torch.equal(model.cost_.distances(test, train, progress=False), expected)
    again = EditKernelClassifier(cost=blank, seed=3, progress=False).fit(train, epochs=2)
    assert np.array_equal(again.predict_proba(test), model.predict_proba(test))
    assert EditKernelClassifier(cost=model.cost_, progress=False).fit(train).cost_ is model.cost_


def test_twins_of_all_classes_get_equal_shares():
    twins = [g for _ in range(6) for g in (lollipop(1, seed=0)[0], lollipop(1, seed=0)[0])]
    model = EditKernelClassifier(cost=UnitCost(), progress=False).fit(twins, [0, 1] * 6)  # no distance but zero
    assert np.allclose(model.predict_proba(twins), 0.5, atol=0.05)


def test_classes_may_be_names_and_are_sorted():
    graphs = lollipop(20, heads=(3, 12), seed=0)
    names = ["small" if g.y == 0 else "big" for g in graphs]
    for g in graphs:
        del g.y
    model = EditKernelClassifier(cost=UnitCost(), progress=False).fit(graphs, names)
    assert model.classes_.tolist() == ["big", "small"]
    assert model.predict(graphs).tolist() == names
    assert model.predict_proba(graphs)[0, 1] > 0.5


def test_many_graphs_are_classified_in_chunks(monkeypatch):
    train, test = three(30, 1), three(25, 2)
    model = EditKernelClassifier(cost=UnitCost(), progress=False).fit(train)
    whole = model.predict_proba(test)
    monkeypatch.setattr("epic.classifiers.kernel.CHUNK", 7)
    assert np.allclose(model.predict_proba(test), whole, atol=1e-12)


@pytest.mark.slow
def test_scikit_learn_clones_splits_and_searches():
    graphs = list(three(24, 8))
    y = labels(graphs)
    model = EditKernelClassifier(gamma=1.0, C=[1.0, 10.0], cost=UnitCost(), progress=False)
    assert is_classifier(model)
    assert clone(model).get_params()["C"] == [1.0, 10.0]
    assert repr(model) == "EditKernelClassifier(gamma=1.0, C=[1.0, 10.0], cost=UnitCost(), progress=False)"
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(model, graphs, y, cv=folds)
    by_hand = [
        clone(model).fit([graphs[i] for i in a], y[a]).score([graphs[i] for i in b], y[b])
        for a, b in folds.split(np.zeros(len(y)), y)
    ]
    assert scores.tolist() == by_hand
    search = GridSearchCV(model, {"gamma": [0.3, 1.0]}, cv=folds, scoring="neg_log_loss").fit(graphs, y)
    assert search.best_estimator_.gamma_ == search.best_params_["gamma"]
    assert cross_val_predict(model, graphs, y, cv=folds, method="predict_proba").shape == (24, 3)


@pytest.mark.parametrize(
    ("params", "fit", "message"),
    [
        ({"gamma": 0}, {}, "gamma must be a positive number, got 0"),
        ({"gamma": []}, {}, "gamma is empty"),
        ({"C": (1.0, -2)}, {}, "C must be a positive number, got -2"),
        ({"C": "10"}, {}, "C must be a number, got '10'"),
        ({"cost": "unit"}, {}, "cost must be an epic Cost"),
        ({}, {"y": [0] * 20}, "all graphs are of class 0"),
        ({}, {"y": [7] + [1] * 9 + [2] * 10}, "class 7 has one graph"),
        ({}, {"epochs": 3}, "fit takes no epochs"),
        ({}, {"validation": three(6, 1), "y": [0, 1] * 10}, "of class 2, but no training graph"),
    ],
)
def test_wrong_input_is_named(params, fit, message):
    with pytest.raises(InputError, match=message):
        EditKernelClassifier(**{"cost": UnitCost(), "progress": False, **params}).fit(three(20, 0), **fit)


def test_a_failed_fit_and_wrong_queries():
    train = three(20, 0)
    model = EditKernelClassifier(cost=UnitCost(), progress=False)
    with pytest.raises(InputError, match=r"call fit\(graphs\)"):
        model.predict(train)
    before = model.fit(train).predict_proba(train)
    with pytest.raises(InputError, match="has one graph"):
        model.fit(train, [5] + [1] * 10 + [2] * 9)
    assert np.array_equal(model.predict_proba(train), before)
    with pytest.raises(InputError, match="one side has x"):
        model.predict(Data(num_nodes=2, edge_index=torch.zeros(2, 0).long()))


@pytest.mark.parametrize("name", ["ENZYMES", "IMDB-BINARY"])
def test_kernels_of_real_graphs_are_semidefinite(tu_folder, name):
    """What the docstring says of the spectrum, on graphs other than those it was measured on."""
    dataset = load(name)
    graphs = dataset.graphs.select(stratified_split(dataset.y, seed=103).test[:150])
    nodes = embed_all(UnitCost(), graphs)
    distance = mutual_distances(UnitCost(), nodes, nodes, progress=False)
    for gamma in (0.1, 1.0):
        spectrum = np.linalg.eigvalsh(np.exp(-gamma * distance / np.median(distance[distance > 0])))
        assert -spectrum[spectrum < 0].sum() < 5e-4 * np.abs(spectrum).sum()
