"""The classifier against votes counted by hand over the whole matrix of distances."""

import copy
import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

from epic import EditNeighbors, FeatureCost, InputError, LearnedCost, UnitCost
from epic.costs import Cost
from epic.data import lollipop
from epic.graphs.convert import pack
from epic.graphs.packed import entries
from epic.paths import edit_path
from tests.costs.test_base import mixed


def three(count, seed):
    """Graphs of three classes that their features tell apart, more or less."""
    graphs = mixed(count, seed=seed)
    for i, g in enumerate(graphs):
        g.x = g.x + (i % 3)
        g.y = torch.tensor([i % 3])
    return graphs


@pytest.fixture(scope="module")
def learned():
    return LearnedCost(hidden_channels=8, num_layers=2).fit(three(45, 0), epochs=3, progress=False)


@pytest.fixture(params=["unit", "feature", "learned"])
def cost(request, learned):
    return {"unit": UnitCost(), "feature": FeatureCost(), "learned": learned}[request.param]


def brute(matrix, label, k, weights, classes):
    """Winner and votes, one query at a time, in plain Python."""
    shares, winners = [], []
    for row in matrix.tolist():
        near = sorted(range(len(row)), key=lambda j: (row[j], j))
        near = [j for j in near if row[j] <= row[near[k - 1]]]  # as near as the k-th counts too
        if weights == "uniform":
            votes = dict.fromkeys(near, 1.0)
        elif any(row[j] == 0 for j in near):
            votes = {j: float(row[j] == 0) for j in near}
        else:
            votes = {j: 1 / row[j] for j in near}
        total = [sum(v for j, v in votes.items() if label[j] == c) for c in range(classes)]
        best = [c for c in range(classes) if total[c] >= max(total) - 1e-6 * max(total)]
        winners.append(next(label[j] for j in near if label[j] in best))
        shares.append([t / sum(total) for t in total])
    return np.array(shares), np.array(winners)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 4, 7])
def test_against_brute_force(cost, k, weights):
    train, test = three(40, 1), three(15, 2)
    test[3] = train[7]  # at distance zero
    model = EditNeighbors(n_neighbors=k, cost=cost, weights=weights, progress=False).fit(train)
    # Rounded: in the matrix equal distances may differ in the last digits.
    matrix = cost.distances(test, train, progress=False).double().round(decimals=4)
    shares, winners = brute(matrix, [g.y.item() for g in train], k, weights, 3)
    found = model.predict_proba(test)
    assert np.allclose(found, shares, atol=1e-3)
    assert np.allclose(found.sum(1), 1)
    assert model.predict(test).tolist() == winners.tolist()
    assert model.predict(Batch.from_data_list(test)).tolist() == winners.tolist()
    truth = np.array([g.y.item() for g in test])
    assert model.score(test) == pytest.approx((winners == truth).mean())
    assert model.score(test, winners) == 1.0


def test_equally_near_graphs_come_in_the_order_of_training():
    graph = lollipop(1, seed=0)[0]
    twins = [graph.clone() for _ in range(6)]
    for i, g in enumerate(twins):
        g.y = torch.tensor([i % 2])
    model = EditNeighbors(n_neighbors=3, cost=UnitCost(), progress=False).fit(twins)
    assert [n.index for n in model.neighbors(graph)] == [0, 1, 2]
    assert model.predict(graph).tolist() == [0]
    assert EditNeighbors(n_neighbors=2, cost=UnitCost(), progress=False).fit(twins[1:]).predict(graph).tolist() == [1]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_k_is_the_best_on_the_validation_graphs(weights):
    train, held = three(60, 3), three(30, 4)
    grid = (9, 1, 3, 21, 500)
    model = EditNeighbors(cost=UnitCost(), weights=weights, grid=grid, progress=False).fit(train, validation=held)
    scores = {
        k: EditNeighbors(n_neighbors=k, cost=UnitCost(), weights=weights, progress=False).fit(train).score(held)
        for k in (1, 3, 9, 21)
    }
    assert model.validation_ == pytest.approx(scores)
    assert len(set(scores.values())) > 1
    assert model.n_neighbors_ == min(k for k in scores if scores[k] == max(scores.values()))
    assert model.n_neighbors is None  # a parameter, not a result


def test_of_equally_good_numbers_the_smallest_is_taken():
    train = lollipop(40, heads=(3, 30), seed=0)
    model = EditNeighbors(cost=UnitCost(), grid=(5, 3), progress=False).fit(
        train, validation=lollipop(8, heads=(3, 30), seed=1)
    )
    assert model.validation_ == {3: 1.0, 5: 1.0}
    assert model.n_neighbors_ == 3


def test_a_stratified_tenth_is_held_out_and_serves_again(monkeypatch):
    asked = []
    search = Cost.nearest

    def spy(cost, source, target=None, *, k=1, progress=True):
        asked.append((pack(source), pack(target)))
        return search(cost, source, target, k=k, progress=progress)

    monkeypatch.setattr(Cost, "nearest", spy)
    graphs = three(90, 5)
    models = [EditNeighbors(cost=UnitCost(), seed=s, progress=False).fit(graphs) for s in (0, 0, 1)]
    held = [[tuple(g.x.flatten().tolist()) for g in map(h.graph, range(len(h)))] for h, _ in asked]
    assert held[0] == held[1] != held[2]
    for query, reference in asked:
        assert torch.bincount(query.y).tolist() == [3, 3, 3]
        assert len(reference) == 81
    assert models[0].validation_ == models[1].validation_
    near = [models[0].neighbors(g, n_neighbors=1)[0] for g in graphs]
    assert [n.distance for n in near] == [0.0] * 90  # all of them are neighbours in the end


def test_cost_is_learned_where_none_is_given_and_the_given_one_stays_as_it_is():
    train, test = lollipop(80, seed=0), lollipop(40, seed=1)
    blank = LearnedCost(hidden_channels=8, num_layers=2)
    model = EditNeighbors(cost=blank, seed=3, progress=False).fit(train, epochs=4)
    assert not blank.fitted
    assert model.cost is blank
    assert model.cost_.fitted
    assert len(model.cost_.history_) <= 4
    again = EditNeighbors(cost=blank, seed=3, progress=False).fit(train, epochs=4)
    assert np.array_equal(again.predict_proba(test), model.predict_proba(test))
    plain = EditNeighbors(n_neighbors=1, progress=False).fit(train, epochs=1)
    assert isinstance(plain.cost_, LearnedCost)
    assert plain.cost_.hidden_channels == LearnedCost().hidden_channels
    assert EditNeighbors(n_neighbors=1, cost=model.cost_).fit(train).cost_ is model.cost_


def test_learning_is_watched_by_the_validation_graphs():
    train, held = lollipop(60, seed=0), lollipop(30, seed=1)
    model = EditNeighbors(n_neighbors=1, cost=LearnedCost(hidden_channels=8, num_layers=2), progress=False).fit(
        train, validation=held, epochs=2
    )
    direct = LearnedCost(hidden_channels=8, num_layers=2).fit(train, validation=held, epochs=2, seed=0, progress=False)
    assert [e.validation for e in model.cost_.history_] == [e.validation for e in direct.history_]


@pytest.mark.parametrize("queries", ["test", "train"])
def test_kneighbors_sorts_a_row_of_the_distance_matrix(cost, queries):
    train, test = three(20, 6), three(7, 7)
    model = EditNeighbors(n_neighbors=4, cost=cost, progress=False).fit(train)
    full = cost.distances(test if queries == "test" else train, train, progress=False).numpy()
    if queries == "train":
        np.fill_diagonal(full, np.inf)  # no graph is its own neighbour
    asked = test if queries == "test" else None
    distances, indices = model.kneighbors(asked)
    assert distances.shape == indices.shape == (len(full), 4)
    assert np.allclose(distances, np.sort(full, axis=1)[:, :4], rtol=1e-5, atol=1e-5)
    assert np.allclose(np.take_along_axis(full, indices, axis=1), distances, rtol=1e-5, atol=1e-5)
    assert np.array_equal(model.kneighbors(asked, 2, return_distance=False), indices[:, :2])


def test_paths_explain_the_distances(cost):
    train, query = three(20, 6), three(4, 7)[3]
    model = EditNeighbors(n_neighbors=5, cost=cost, progress=False).fit(train)
    near = model.neighbors(query)
    assert [n.distance for n in near] == sorted(n.distance for n in near)
    assert len(model.neighbors(query, n_neighbors=2)) == 2
    for n in near:
        assert n.label == n.graph.y.item() == train[n.index].y.item()
        assert torch.equal(n.graph.x, train[n.index].x)
        assert n.distance == pytest.approx(cost.distance(query, train[n.index]), rel=1e-5, abs=1e-5)
        assert n.path.distance == pytest.approx(n.distance, rel=1e-5, abs=1e-5)
        assert torch.equal(n.path.source.x, query.x)
        assert torch.equal(n.path.target.edge_index, n.graph.edge_index)
    assert "distance=" in repr(near[0])


def test_degree_features_follow_the_edges_of_a_path():
    graphs = lollipop(12, seed=0)
    for g in graphs:
        g.x = torch.bincount(g.edge_index[0], minlength=g.num_nodes)[:, None].float()
    near = EditNeighbors(n_neighbors=3, cost=FeatureCost(), progress=False).fit(graphs[1:]).neighbors(graphs[0])
    for graph in near[-1].path:
        degree = torch.bincount(graph.edge_index[0], minlength=graph.num_nodes)
        assert torch.equal(graph.x[:, 0], degree.float())


def test_classes_may_be_names_and_are_sorted():
    graphs = lollipop(20, heads=(3, 12), seed=0)
    names = ["small" if g.y == 0 else "big" for g in graphs]
    for g in graphs:
        del g.y
    model = EditNeighbors(n_neighbors=1, cost=UnitCost(), progress=False).fit(graphs, names)
    assert model.classes_.tolist() == ["big", "small"]
    assert model.predict(graphs).tolist() == names
    assert model.predict_proba(graphs)[0].tolist() == [0.0, 1.0]
    near = model.neighbors(graphs[0])
    assert near[0].label == "small"
    assert near[0].path.distance == 0


def test_parameters_make_the_same_object_again():
    cost = FeatureCost()
    model = EditNeighbors(n_neighbors=3, cost=cost, weights="distance", grid=[1, 2], seed=5, progress=False)
    params = model.get_params(deep=False)
    assert set(params) == set(inspect.signature(EditNeighbors).parameters)
    assert params["cost"] is cost
    # What scikit-learn's clone does: deep copies of the parameters, which must arrive as they are.
    copies = {name: copy.deepcopy(value) for name, value in params.items()}
    clone = type(model)(**copies)
    assert all(clone.get_params()[name] is copies[name] for name in copies)
    train, test = three(20, 8), three(5, 9)
    model.fit(train)
    assert model.get_params() == params  # fitting changes none
    assert np.array_equal(clone.fit(train).predict_proba(test), model.predict_proba(test))
    assert model.set_params(n_neighbors=1, weights="uniform") is model
    assert (model.n_neighbors, model.weights) == (1, "uniform")
    assert repr(model) == f"EditNeighbors(n_neighbors=1, grid=[1, 2], cost={cost}, seed=5, progress=False)"
    with pytest.raises(InputError, match="unknown parameter of EditNeighbors 'weight'; did you mean 'weights'"):
        model.set_params(weight="uniform")


def test_scikit_learn_splits_searches_and_chains():
    base, selection = pytest.importorskip("sklearn.base"), pytest.importorskip("sklearn.model_selection")
    graphs = list(three(24, 8))
    y = np.array([int(g.y) for g in graphs])
    model = EditNeighbors(n_neighbors=1, cost=UnitCost(), progress=False)
    assert base.is_classifier(model)
    folds = selection.StratifiedKFold(3, shuffle=True, random_state=0)
    scores = selection.cross_val_score(model, graphs, y, cv=folds)
    by_hand = [
        base.clone(model).fit([graphs[i] for i in a], y[a]).score([graphs[i] for i in b], y[b])
        for a, b in folds.split(np.zeros(len(y)), y)
    ]
    assert scores.tolist() == by_hand
    search = selection.GridSearchCV(model, {"n_neighbors": [1, 3]}, cv=folds).fit(graphs, y)
    assert search.best_params_["n_neighbors"] in (1, 3)
    shares = selection.cross_val_predict(model, graphs, y, cv=folds, method="predict_proba")
    assert shares.shape == (24, 3)
    chained = pytest.importorskip("sklearn.pipeline").make_pipeline(model).fit(graphs, y)
    assert chained.predict(graphs).shape == y.shape


def test_a_clone_keeps_a_fitted_cost_and_drops_what_was_fitted(learned):
    base = pytest.importorskip("sklearn.base")
    graphs = three(20, 8)
    model = EditNeighbors(n_neighbors=2, cost=learned, progress=False).fit(graphs)
    copied = base.clone(model)
    assert not hasattr(copied, "cost_")
    assert copied.cost is not learned
    assert np.array_equal(copied.fit(graphs).kneighbors(graphs)[0], model.kneighbors(graphs)[0])


@pytest.mark.parametrize(
    ("params", "fit", "message"),
    [
        ({"n_neighbors": 0}, {}, "positive integer, got 0"),
        ({"n_neighbors": 1.5}, {}, "positive integer, got 1.5"),
        ({"n_neighbors": 99}, {}, "n_neighbors = 99, but there are 20"),
        ({"n_neighbors": None, "grid": (50,)}, {"validation": three(6, 1)}, "n_neighbors = 50, but there are 20"),
        ({"cost": "unit"}, {}, "cost must be an epic Cost"),
        ({}, {"y": [0, 1]}, "one class for each of 20 graphs"),
        ({}, {"y": [0] * 20}, "all graphs are of class 0"),
        ({}, {"y": np.linspace(0, 1, 20)}, "not classes"),
        ({}, {"epochs": 3}, "fit takes no epochs"),
        ({"n_neighbors": None}, {"y": list(range(20))}, "too few to hold some out"),
        ({"n_neighbors": None}, {"validation": three(6, 1), "y": [0, 1] * 10}, "of class 2, but no training graph"),
    ],
)
def test_wrong_input_is_named(params, fit, message):
    model = EditNeighbors(n_neighbors=1, cost=UnitCost(), progress=False)
    with pytest.raises(InputError, match=message):
        model.set_params(**params).fit(three(20, 0), **fit)
    assert not hasattr(model, "classes_")  # nothing half done


def test_wrong_queries_are_named():
    train = three(20, 0)
    with pytest.raises(InputError, match="unknown weights 'equal'"):
        EditNeighbors(weights="equal")
    model = EditNeighbors(n_neighbors=1, cost=UnitCost(), progress=False)
    with pytest.raises(InputError, match=r"call fit\(graphs\)"):
        model.predict(train)
    model.fit(train)
    with pytest.raises(InputError, match="one side has x"):
        model.predict(Data(num_nodes=2, edge_index=torch.zeros(2, 0).long()))
    with pytest.raises(InputError, match="takes one graph, got 20"):
        model.neighbors(train)
    with pytest.raises(InputError, match="n_neighbors = 21, but there are 20"):
        model.kneighbors(train[0], 21)
    with pytest.raises(InputError, match="no labels y"):
        model.score([Data(x=torch.ones(1, 3), edge_index=torch.zeros(2, 0).long(), edge_attr=torch.zeros(0, 2))])


def test_names_of_graphs_and_classes_stay():
    given = pack(lollipop(40, seed=0))
    names = ("none", "short", "middle", "long")
    about = {"row": range(10, 50), "name": [f"g{i}" for i in range(40)], "class_names": [names] * 40}
    given = replace(given, per_graph={k: entries(v) for k, v in about.items()})
    model = EditNeighbors(cost=UnitCost(), n_neighbors=1, progress=False).fit(given)
    plain = EditNeighbors(cost=UnitCost(), n_neighbors=1, progress=False).fit(replace(given, per_graph={}))
    assert model.predict(given).tolist() == [names[c] for c in plain.predict(given)]
    assert model.classes_.tolist() == list(names)  # by number, not by letter
    assert np.array_equal(model.predict_proba(given), plain.predict_proba(given))
    assert model.score(given) == model.score(list(given)) == 1.0
    (found,) = model.neighbors(given[3])
    assert (found.name, found.graph.name, found.label) == ("g3 (row 13)", "g3", names[int(given.y[3])])
    assert found.path.ends == ("g3 (row 13)", "g3 (row 13)")
    assert plain.neighbors(given[3])[0].name == "graph 3"
    named = replace(given, per_graph={"name": entries("abcdefgh" * 5)})
    assert edit_path(named[2], named[5], UnitCost()).ends == ("c", "f")
