import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader as PlainLoader
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.transforms import OneHotDegree

from epic import EPIC, FeatureCost, InputError, LearnedCost, UnitCost
from epic.data import lollipop
from epic.graphs.convert import pack
from epic.testing import AugmentationTester, augmented_graphs
from tests.paths.reference import edges_of
from tests.sample_graphs import random_graph

NAN = float("nan")


class TestEPIC(AugmentationTester):
    fit_options = {"epochs": 1, "progress": False}

    def method(self):
        return EPIC(seed=0)


def graphs(count=16, num_classes=3, seed=0, low=3, **kind):
    rng = np.random.default_rng(seed)
    return [random_graph(rng, rng.integers(low, 9), y=[i % num_classes], **kind) for i in range(count)]


def batch(count=16, **kind):
    return Batch.from_data_list(graphs(count, **kind))


def test_originals_come_first_and_unchanged():
    source = batch()
    before = source.clone()
    out = EPIC(UnitCost(), num_classes=3, seed=0)(source)
    assert out.num_graphs == 24
    assert out.augmented.tolist() == [False] * 16 + [True] * 8
    assert out.y.dtype == torch.float
    assert torch.equal(out.y[:16].argmax(1), source.y)
    for got, original in zip(out.to_data_list()[:16], source.to_data_list(), strict=True):
        for key in ("x", "edge_index", "edge_attr"):
            assert torch.equal(got[key], original[key])
    for key in ("x", "edge_index", "edge_attr", "y", "batch", "ptr"):
        assert torch.equal(source[key], before[key])
    assert torch.allclose(out.y.sum(1), torch.ones(24))


@pytest.mark.parametrize("order", ["random", "bfs", "connected"])
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"x": "int", "edge_width": 0},
        {"x": None, "edge_width": None},
        {"directed": True, "loops": True},
        {"low": 0, "density": 0.1},
    ],
)
@pytest.mark.filterwarnings("ignore:No connected order")
def test_every_augmented_graph_lies_on_a_path_of_two_originals(kind, order):
    """Each is made of whole nodes of two graphs, with the edges that both dictate, and its label is theirs."""
    originals = graphs(12, **kind)
    for g, data in enumerate(originals):  # a name for each node, which must travel with it
        data.name = torch.full((data.num_nodes,), 100 * g) + torch.arange(data.num_nodes)
    out = EPIC(FeatureCost(), ratio=3, num_classes=3, order=order, seed=1)(Batch.from_data_list(originals))
    made = out.to_data_list()[12:]
    assert len(made) == 36
    for data in made:
        assert data.num_nodes > 0
        owners = sorted(set((data.name // 100).tolist()))
        assert len(owners) <= 2
        for g in owners:
            inside = data.name // 100 == g
            own = (data.name - 100 * g).tolist()
            truth = edges_of(originals[g])
            for (a, b), attr in edges_of(data).items():
                if inside[a] and inside[b] and (own[a], own[b]) in truth:
                    assert attr == truth[own[a], own[b]]
        if len(owners) == 2:
            assert set(data.y[0].nonzero()[:, 0].tolist()) <= {int(originals[g].y) for g in owners}
        assert float(data.y.sum()) == pytest.approx(1.0)
        if "x" in data:
            assert data.x.dtype == originals[0].x.dtype


def test_labels_are_the_share_of_cost_recomputed_from_the_path():
    """Replay every augmented graph of a batch on the path between its two parents."""
    originals = graphs(10)
    for g, data in enumerate(originals):
        data.name = torch.full((data.num_nodes,), 100 * g) + torch.arange(data.num_nodes)
    cost = FeatureCost()
    augment = EPIC(cost, ratio=2, num_classes=3, seed=2)
    checked = 0
    for data in augment(Batch.from_data_list(originals)).to_data_list()[10:]:
        owners = (data.name // 100).unique().tolist()
        if len(owners) < 2:
            continue
        # Which of the two is the source is not written on the graph: one of the two readings must fit.
        fits = []
        for s, t in (owners, owners[::-1]):
            path = augment.path(originals[s], originals[t])
            here = set(data.name.tolist())
            done = [
                op
                for op in path.operations
                if (op.target is not None and 100 * t + op.target in here)
                or (op.target is None and 100 * s + op.source not in here)
            ]
            share = sum(op.cost for op in done) / path.distance
            label = torch.zeros(3)
            label[int(originals[s].y)] += 1 - share
            label[int(originals[t].y)] += share
            fits.append(torch.allclose(label, data.y[0], atol=1e-5))
        assert any(fits)
        checked += 1
    assert checked > 10


@pytest.mark.parametrize(
    ("label", "width"),
    [
        (lambda i: torch.tensor([i % 3]), 3),
        (lambda i: torch.tensor([[i % 2]]), 2),
        (lambda i: torch.eye(4)[i % 4][None], 4),
        (lambda i: torch.tensor([[0.0, NAN, i % 2, 1.0]]), 4),
        (lambda i: torch.tensor([[float(i) / 3]]), 1),
    ],
)
def test_every_kind_of_label(label, width):
    originals = graphs(16)
    for i, g in enumerate(originals):
        g.y = label(i)
    augment = EPIC(UnitCost(), seed=0).fit(originals)
    out = augment(Batch.from_data_list(originals))
    assert out.y.shape == (24, width)
    column = torch.stack([label(i).float().reshape(-1)[-1] for i in range(16)])
    if width != 2 and width != 3:
        assert float(out.y[16:, -1].min()) >= float(column.min())
        assert float(out.y[16:, -1].max()) <= float(column.max())
    if torch.isnan(label(0).float()).any():
        assert torch.isnan(out.y[:, 1]).all()
        assert not torch.isnan(out.y[:, [0, 2, 3]]).any()


@pytest.mark.parametrize("pairs", ["different", "same"])
def test_pairs_by_label(pairs):
    out = EPIC(UnitCost(), ratio=4, num_classes=3, pairs=pairs, seed=0)(batch())
    support = (out.y[16:] > 0).sum(1)
    assert (support == 1).all() if pairs == "same" else (support == 2).any()
    mixed = out.y[16:][support == 2]
    assert pairs == "same" or mixed.shape[0] > 40


def test_no_pair_of_the_asked_kind_leaves_the_batch_as_it_is():
    one_class = Batch.from_data_list(graphs(6, num_classes=1))
    assert EPIC(UnitCost(), num_classes=3, pairs="different")(one_class).num_graphs == 6
    with pytest.warns(UserWarning, match="adds nothing to a batch of one"):
        assert EPIC(UnitCost(), num_classes=3)(Batch.from_data_list(graphs(1))).num_graphs == 1
    assert EPIC(UnitCost(), ratio=0, num_classes=3)(batch()).num_graphs == 16


def test_indicator_marks_augmented_nodes_and_plain_does_not():
    augment = EPIC(UnitCost(), num_classes=3, indicator=True, seed=0)
    out = augment(batch())
    assert out.x.shape[1] == 4
    assert torch.equal(out.x[:, -1].bool(), out.augmented[out.batch])
    test = augment.eval_batch(batch())
    assert test.num_graphs == 16
    assert (test.x[:, -1] == 0).all()
    with pytest.raises(InputError, match="indicator=True needs"):
        augment(batch(x=None))


@pytest.mark.parametrize("make", [lambda g: OneHotDegree(5)(g), lambda g: _count(g)])
def test_degree_features_follow_the_edges(make):
    plain = graphs(16, x=None, edge_width=None, density=0.3)
    originals = [
        make(g) for g in plain if g.edge_index.shape[1] == 0 or int(torch.bincount(g.edge_index[0]).max()) <= 5
    ]
    with pytest.warns(UserWarning, match="x holds node degrees"):
        augment = EPIC(UnitCost(), num_classes=3, ratio=2, seed=0).fit(originals)
    out = augment(Batch.from_data_list(originals))
    degree = torch.bincount(out.edge_index[0], minlength=out.num_nodes)
    got = out.x.argmax(1) if out.x.shape[1] > 1 else out.x[:, 0].long()
    assert torch.equal(got, degree.clamp_max(5) if out.x.shape[1] > 1 else degree)
    left = EPIC(UnitCost(), num_classes=3, ratio=2, seed=0, degree_features=False)(Batch.from_data_list(originals))
    again = left.x.argmax(1) if left.x.shape[1] > 1 else left.x[:, 0].long()
    assert not torch.equal(again, torch.bincount(left.edge_index[0], minlength=left.num_nodes))


def _count(g: Data) -> Data:
    g = g.clone()
    g.x = torch.bincount(g.edge_index[0], minlength=g.num_nodes)[:, None].float()
    return g


def test_degree_features_demanded_of_something_else():
    with pytest.raises(InputError, match="degree_features=True, but x holds neither"):
        EPIC(UnitCost(), num_classes=3, degree_features=True)(batch())


def test_same_seed_same_batch_new_ones_each_time():
    one, two = (EPIC(UnitCost(), num_classes=3, seed=5) for _ in range(2))
    first, second = one(batch()), one(batch())
    assert torch.equal(first.y, two(batch()).y)
    assert not torch.equal(first.edge_index, second.edge_index) or not torch.equal(first.y, second.y)
    drawn = [EPIC(UnitCost(), num_classes=3, seed=torch.Generator().manual_seed(1))(batch()).y for _ in range(2)]
    assert torch.equal(*drawn)
    state = torch.get_rng_state()
    EPIC(UnitCost(), num_classes=3)(batch())
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize("learned", [False, True])
def test_results_do_not_depend_on_the_number_of_workers(learned):
    data = graphs(24)
    cost = LearnedCost(hidden_channels=8).fit(data, epochs=1, progress=False) if learned else UnitCost()
    seen = []
    for workers in (0, 1, 2):
        augment = EPIC(cost, num_classes=3, seed=7)
        loader = PlainLoader(data, batch_size=6, collate_fn=augment, num_workers=workers)
        seen.append([(b.edge_index, b.y, b.x) for b in loader])
    for other in seen[1:]:
        for a, b in zip(seen[0], other, strict=True):
            assert all(torch.equal(u, v) for u, v in zip(a, b, strict=True))


@pytest.mark.parametrize(
    "options", [{"num_workers": 1}, {"num_workers": 2}, {"num_workers": 2, "persistent_workers": True}]
)
def test_loader_gives_new_graphs_every_epoch(options):
    """Even where batches repeat, and workers start afresh."""
    data = graphs(24)

    def epochs(**kind):
        loader = EPIC(UnitCost(), num_classes=3, seed=7).loader(data, batch_size=6, **kind)
        return [[b.y for b in loader] for _ in range(3)]

    alone, many = epochs(), epochs(**options)
    assert all(torch.equal(a, b) for one, two in zip(alone, many, strict=True) for a, b in zip(one, two, strict=True))
    assert not torch.equal(many[0][0], many[1][0])
    assert not torch.equal(many[1][0], many[2][0])
    shuffled = EPIC(UnitCost(), num_classes=3).loader(data, batch_size=6, shuffle=True)
    assert next(iter(shuffled)).num_graphs == 9


def test_fit_again_learns_again():
    """Folds of a cross-validation must not inherit each other's costs, classes or features."""
    first, second = graphs(20, num_classes=2), graphs(20, num_classes=4, seed=5)
    augment = EPIC(seed=0).fit(first, epochs=1, progress=False)
    old = augment.cost_
    augment.fit(second, epochs=1, progress=False)
    assert augment.cost_ is not old
    assert augment.num_classes_ == 4
    fresh = EPIC(seed=0).fit(second, epochs=1, progress=False)
    assert torch.equal(augment.cost_.distances(second, progress=False), fresh.cost_.distances(second, progress=False))
    other = EPIC(seed=1).fit(second, epochs=1, progress=False)
    assert not torch.equal(other.cost_.distances(second, progress=False), fresh.cost_.distances(second, progress=False))
    ready = LearnedCost(hidden_channels=8).fit(first, epochs=1, progress=False)
    assert EPIC(ready).fit(first).cost_ is ready


def test_degrees_follow_along_a_path_too():
    data = [_count(g) for g in graphs(6, x=None, edge_width=None)]
    augment = EPIC(UnitCost(), degree_features=True).fit(data)
    for g in augment.path(data[0], data[5], seed=0):
        assert torch.equal(g.x[:, 0].long(), torch.bincount(g.edge_index[0], minlength=g.num_nodes))


def test_a_constant_feature_is_not_taken_for_a_degree():
    ring = Data(
        x=torch.full((4, 1), 2.0),
        edge_index=torch.tensor([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]]),
        y=torch.tensor([0]),
    )
    other = ring.clone()
    other.y = torch.tensor([1])
    EPIC(UnitCost()).fit([ring, other])  # a warning would be an error here
    wrong = EPIC(UnitCost(), num_classes=2, degree_features=True)
    for _ in range(2):
        with pytest.raises(InputError, match="degree_features=True"):
            wrong(Batch.from_data_list([ring, other]))


def test_graphs_of_generate_do_not_drag_their_chunk_along():
    import pickle

    data = graphs(20)
    one = next(iter(EPIC(UnitCost(), seed=0).fit(data).generate(data, count=1)))
    assert len(pickle.dumps(one)) < 6000


def test_in_a_plain_training_loop():
    from torch_geometric.nn import GIN, global_add_pool

    data = lollipop(64, seed=0)
    for g in data:
        g.x = torch.ones(g.num_nodes, 1)
    augment = EPIC(ratio=0.5, seed=0).fit(data, epochs=1, progress=False)
    model = GIN(1, 16, 2, out_channels=4)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    losses = []
    for _ in range(15):
        for b in DataLoader(data, batch_size=32, shuffle=True):
            b = augment(b)
            loss = torch.nn.functional.cross_entropy(global_add_pool(model(b.x, b.edge_index), b.batch), b.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]


def test_generate_is_a_function_of_seed_and_number():
    data = graphs(20)
    augment = EPIC(UnitCost(), seed=0).fit(data)
    whole = list(augment.generate(data, count=600, seed=3))
    assert len(whole) == 600
    tail = list(augment.generate(data, count=70, seed=3, start=500))
    for a, b in zip(whole[500:570], tail, strict=True):
        assert torch.equal(a.edge_index, b.edge_index)
        assert torch.equal(a.y, b.y)
        assert torch.equal(a.x, b.x)
    other = list(augment.generate(data, count=600, seed=4))
    assert any(a.num_nodes != b.num_nodes for a, b in zip(whole, other, strict=True))
    assert all(g.num_nodes > 0 for g in whole)
    assert whole[0].y.shape == (1, 3)
    with pytest.raises(InputError, match="count and start must be 0 or more"):
        list(augment.generate(data, count=-1))


def test_the_last_node_is_never_lost():
    far = Data(x=torch.tensor([[9.0]]), edge_index=torch.zeros(2, 0).long(), y=torch.tensor([0]))
    near = Data(x=torch.tensor([[-9.0]]), edge_index=torch.zeros(2, 0).long(), y=torch.tensor([1]))
    augment = EPIC(FeatureCost(edit=0.1), ratio=20, num_classes=2, seed=0)
    out = augment(Batch.from_data_list([far, near]))
    assert (out.ptr.diff() > 0).all()


def test_save_and_load_go_on_alike(tmp_path):
    data = [_count(g) for g in graphs(20, x=None, edge_width=None)]
    augment = EPIC(
        LearnedCost(hidden_channels=8), ratio=0.25, order="bfs", pairs="different", seed=9, degree_features=True
    )
    augment.fit(data, epochs=1, progress=False)
    augment.save(tmp_path / "epic.safetensors")
    again = EPIC.load(tmp_path / "epic.safetensors")
    a, b = augment(Batch.from_data_list(data)), again(Batch.from_data_list(data))
    for key in ("x", "edge_index", "y"):
        assert torch.equal(a[key], b[key])
    assert (again.ratio, again.order, again.pairs, again.num_classes_) == (0.25, "bfs", "different", 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EPIC(ratio=-1), r"ratio must be a number from 0 to 1000 \(generate makes more graphs\), got -1"),
        (lambda: EPIC(ratio=1e9), "ratio must be a number from 0 to 1000 .*, got 1000000000"),
        (lambda: EPIC(ratio=10**400), "ratio must be a number, got 1000"),
        (lambda: EPIC(order="rnd"), "unknown order 'rnd'"),
        (lambda: EPIC(pairs="differnt"), "did you mean 'different'"),
        (lambda: EPIC(cost="unit"), "cost must be an epic Cost"),
        (lambda: EPIC(num_classes=3)(batch()), "call fit"),
        (lambda: EPIC(UnitCost())(batch()), "number of classes is not known"),
        (lambda: EPIC(UnitCost(), num_classes=2)(batch()), "class index 2 but only 2 classes"),
        (lambda: EPIC(UnitCost()).fit(graphs(), epochs=3), "given ready"),
        (lambda: EPIC(UnitCost()).fit([random_graph(np.random.default_rng(0), 3)]), "no labels"),
        (lambda: EPIC().fit(graphs(num_classes=1)), "1 class"),
        (lambda: EPIC().fit([]), "there are no graphs"),
        (lambda: EPIC(indicator="no"), "indicator must be true or false, got 'no'"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_connected_order_gives_connected_graphs():
    import networkx as nx
    from torch_geometric.utils import to_networkx

    data = lollipop(12, seed=0)
    augment = EPIC(UnitCost(), num_classes=4, ratio=2, order="connected", seed=0)
    out = augment(Batch.from_data_list(data))
    assert all(nx.is_connected(nx.Graph(to_networkx(g))) for g in out.to_data_list())
    broken = Data(
        edge_index=torch.zeros(2, 0).long(), num_nodes=3, y=torch.tensor([0]), head=torch.ones(3, dtype=torch.bool)
    )
    with pytest.warns(UserWarning, match="No connected order exists for"):
        augment(Batch.from_data_list([*data, broken, broken, broken]))


def test_packs_and_lists_work_too():
    data = graphs(8)
    one, two, three = (EPIC(UnitCost(), num_classes=3, seed=1) for _ in range(3))
    a, b, c = one(data), two(pack(data)), three(Batch.from_data_list(data))
    assert torch.equal(a.y, b.y)
    assert torch.equal(a.y, c.y)


def test_fit_changes_no_argument_and_finds_what_is_missing():
    two, four = graphs(20, num_classes=2), graphs(20, num_classes=4, seed=5)
    template = LearnedCost(hidden_channels=8)
    augment = EPIC(template, seed=0).fit(two, epochs=1, progress=False)
    assert augment.get_params()["cost"] is template
    assert not template.fitted
    assert augment.cost_.hidden_channels == 8
    assert (augment.num_classes, augment.num_classes_, augment.task, augment.task_) == (None, 2, None, "classes")
    assert augment.fit(four, epochs=1, progress=False).num_classes_ == 4
    assert augment(Batch.from_data_list(four)).y.shape[1] == 4
    given = EPIC(UnitCost(), num_classes=5, task="classes").fit(two)
    assert (given.num_classes, given.num_classes_) == (5, 5)


@pytest.mark.parametrize("cost", [None, LearnedCost(hidden_channels=8)])
def test_a_loaded_augmentation_can_be_fitted_again(tmp_path, cost):
    """On graphs of another number of classes, and with options of learning."""
    two, four = graphs(20, num_classes=2), graphs(20, num_classes=4, seed=5)
    EPIC(cost, seed=0).fit(two, epochs=1, progress=False).save(tmp_path / "epic.safetensors")
    again = EPIC.load(tmp_path / "epic.safetensors")
    assert (again.num_classes, again.num_classes_) == (None, 2)
    old = again.cost_
    again.fit(four, epochs=1, progress=False)
    assert again.cost_ is not old
    assert again(Batch.from_data_list(four)).y.shape[1] == 4
    fresh = EPIC(cost, seed=0).fit(four, epochs=1, progress=False)
    assert torch.equal(again.cost_.distances(four, progress=False), fresh.cost_.distances(four, progress=False))


def test_a_given_cost_is_still_given_after_loading(tmp_path):
    EPIC(UnitCost()).fit(graphs()).save(tmp_path / "epic.safetensors")
    again = EPIC.load(tmp_path / "epic.safetensors")
    assert isinstance(again.cost, UnitCost)
    with pytest.raises(InputError, match="given ready"):
        again.fit(graphs(), epochs=1)


def test_scikit_learn_clones_it():
    from sklearn.base import clone

    augment = EPIC(LearnedCost(hidden_channels=8), ratio=0.25, pairs="different").fit(
        graphs(), epochs=1, progress=False
    )
    again = clone(augment)
    assert (again.ratio, again.pairs, again.cost.hidden_channels) == (0.25, "different", 8)
    with pytest.raises(InputError, match="no cost yet"):
        again.cost_  # noqa: B018
    assert clone(EPIC()).get_params() == EPIC().get_params()


def test_its_repr_shows_what_was_given():
    assert repr(EPIC()) == "EPIC()"
    shown = repr(EPIC(UnitCost(), ratio=0.25, seed=3))
    assert shown.startswith("EPIC(cost=")
    assert "UnitCost" in shown
    assert shown.endswith("ratio=0.25, seed=3)")


def test_costs_that_differ_have_other_fingerprints():
    """A checkpoint of one must not be continued with the other."""
    one, other = (LearnedCost(hidden_channels=8).fit(graphs(), epochs=1, seed=s, progress=False) for s in (0, 1))
    found = {EPIC(c).fingerprint() for c in (one, other, UnitCost(), FeatureCost(), FeatureCost(edit=0.5))}
    assert len(found) == 5
    assert EPIC(one).fingerprint() == EPIC(one).fingerprint()
    assert EPIC(one).fingerprint() != EPIC(one, ratio=0.1).fingerprint()


def bare(x, y):
    """A graph without edges."""
    return Data(x=torch.tensor(x), edge_index=torch.zeros(2, 0).long(), y=torch.tensor([y]))


def test_at_unit_cost_the_label_is_the_share_of_labels_changed():
    """0123 into 0000: node 0 is free, the other three substitutions cost 1 each."""
    hot = torch.eye(4).tolist()
    ends = [bare([hot[0], hot[1], hot[2], hot[3]], 0), bare([hot[0]] * 4, 1)]
    seen = set()
    for g in augmented_graphs(EPIC(UnitCost(), ratio=40, num_classes=2, degree_features=False), ends):
        changed = int((g.x[:, 0] == 1).sum()) - 1
        assert g.y[0].tolist() == pytest.approx([1 - changed / 3, changed / 3])
        seen.add(changed)
    assert seen >= {1, 2}


def test_at_unit_cost_graphs_lie_where_their_labels_say():
    """Distances to both ends add up to the distance of the ends, and the label tells which share is which."""
    cost, hot = UnitCost(), torch.eye(4).tolist()
    data = [bare([hot[i] for i in (0, 1, 2, 3, 1)], 0), bare([hot[i] for i in (1, 1, 3)], 1)]
    whole = cost.distance(*data)
    for g in augmented_graphs(EPIC(cost, ratio=20, num_classes=2, degree_features=False), data):
        assert cost.distance(data[0], g) == pytest.approx(whole * float(g.y[0, 1]), abs=1e-5)
        assert cost.distance(g, data[1]) == pytest.approx(whole * float(g.y[0, 0]), abs=1e-5)


def test_label_is_the_share_of_feature_distance():
    """Values 1 and 10 become 2 and 13: the first substitution costs 1, the second 3, crosswise would cost more."""
    ends = [bare([[1.0], [10.0]], 0), bare([[2.0], [13.0]], 1)]
    expected = {(2.0, 10.0): 0.25, (1.0, 13.0): 0.75}  # the share of the way from 1, 10
    seen = set()
    for g in augmented_graphs(EPIC(FeatureCost(), ratio=20, num_classes=2, degree_features=False), ends):
        values = tuple(sorted(g.x[:, 0].tolist()))
        assert float(g.y[0, 1]) == pytest.approx(expected[values])
        seen.add(values)
    assert seen == set(expected)
