import pytest
import torch
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import DataLoader

from epic import InputError, LearnedCost
from epic.augment import GREA, METHODS, DropEdge, DropNode, GMixup, SMixup, SubMix, training_steps
from epic.graphs.convert import pack
from epic.labels import loss
from epic.testing import random_graphs as graphs
from epic.train import backbone_for


def test_batches_that_differ_in_features_change_differently():
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    features = torch.randn(16, 8, 3, generator=torch.Generator().manual_seed(0))
    rings = [Data(x=x, edge_index=torch.cat([ring, ring.flip(0)], 1), y=torch.tensor(0)) for x in features]
    found = []
    for workers in (0, 2):
        method = DropEdge(p=0.3)
        found.append([b.edge_index for b in method.loader(rings, batch_size=4, num_workers=workers)])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))
    assert len({str(e.tolist()) for e in found[0]}) == 4


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_made_again_goes_on(workers):
    """Not with the graphs of the first epoch, and as one loader does that is kept."""
    rings = graphs()
    kept, renewed = (DropEdge(num_classes=3, seed=0) for _ in range(2))
    loader = kept.loader(rings, batch_size=6, num_workers=workers)
    passes = [[b.edge_index for b in loader] for _ in range(3)]
    fresh = [[b.edge_index for b in renewed.loader(rings, batch_size=6, num_workers=workers)] for _ in range(3)]
    for one, other in zip(passes, fresh, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(*passes[:2], strict=True))


@pytest.mark.parametrize("options", [{}, {"num_workers": 2}, {"shuffle": True}])
def test_a_loader_leaves_the_global_random_state_alone(options):
    loader = DropEdge(num_classes=3, seed=0).loader(graphs(), batch_size=4, **options)
    before = torch.get_rng_state()
    list(loader)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_shuffled_loader_follows_seed_or_generator():
    data = graphs()
    for number, graph in enumerate(data):
        graph.y = torch.tensor([float(number)])

    def orders(seed, **options):
        loader = DropEdge(ratio=0, seed=seed, task="values").loader(data, batch_size=4, shuffle=True, **options)
        return [torch.cat([b.y for b in loader]).flatten().tolist() for _ in range(2)]

    first, second = orders(0)
    assert first != second, "every pass has an order of its own"
    assert sorted(first) == sorted(second) == list(range(len(data)))
    assert orders(0) == [first, second]
    assert orders(1) != [first, second]
    given = [orders(seed, generator=torch.Generator().manual_seed(5)) for seed in (0, 1)]
    assert given[0] == given[1] != [first, second]


def test_labels_mixed_in_a_worker_keep_their_task():
    found = graphs(24, num_classes=2)
    for g in found:
        g.y = g.y.float()[None]
    model = backbone_for(pack(found), outputs=1, hidden_channels=8, num_layers=2, dropout=0.0).eval()
    values = []
    for workers in (0, 1):
        method = SubMix(seed=0)
        (batch,) = method.loader(found, batch_size=24, num_workers=workers)
        values.append(float(training_steps(method).loss(model, batch).detach()))
    assert values[0] == values[1]
    batch = SubMix(seed=0)(found)
    with pytest.raises(InputError, match="what the labels are is not known"):
        training_steps(SubMix(seed=0)).loss(model, batch)


def test_equal_batches_differ_and_can_be_repeated():
    one = Batch.from_data_list(graphs())
    first = DropEdge(0.5, num_classes=3, seed=0)
    first.set_epoch(3)
    a, b = first(one).edge_index, first(one).edge_index
    assert a.shape != b.shape or not torch.equal(a, b)
    again = DropEdge(0.5, num_classes=3, seed=0)
    again.set_epoch(3)
    assert torch.equal(again(one).edge_index, a)
    again.set_epoch(4)
    c = again(one).edge_index
    assert c.shape != a.shape or not torch.equal(c, a)


def test_nothing_is_made_of_a_graph_without_nodes():
    empty = Data(x=torch.zeros(0, 3), edge_index=torch.zeros(2, 0, dtype=torch.long), y=torch.tensor([0]))
    found = [*graphs(7, x="onehot", edge_width=None), empty]
    out = DropEdge(replace=False, num_classes=3, seed=0)(found)
    assert all(g.num_nodes > 0 for g, new in zip(out.to_data_list(), out.augmented.tolist(), strict=True) if new)
    method = SMixup(seed=0).fit(found, epochs=1, progress=False)
    assert torch.isfinite(method(graphs(8, x="onehot", edge_width=None)).x).all()


def test_a_batch_without_any_label_teaches_nothing():
    output = torch.randn(3, 2, requires_grad=True)
    value = loss(output, torch.full((3, 2), float("nan")), "binary")
    value.backward()
    assert float(value.detach()) == 0
    assert not output.grad.any()


def test_graphs_without_labels_are_no_class_of_g_mixup():
    found = graphs(12, num_classes=2, x="onehot", edge_width=None)
    for i, g in enumerate(found):
        g.y = torch.tensor([[float(i % 2) if i < 8 else float("nan")]])
    out = GMixup(ratio=1.0, seed=0).fit(found)(found)
    assert not out.y[out.augmented].isnan().any()


def test_grea_leaves_nothing_frozen():
    found = graphs(x="onehot")
    method = GREA(seed=0).fit(found)
    backbone = backbone_for(pack(found), outputs=3, hidden_channels=8, num_layers=2)
    model = method.wrap_model(backbone)
    method.on_epoch_start(model, 0)
    assert not any(p.requires_grad for p in backbone.parameters())
    method.on_train_end(model)
    assert all(p.requires_grad for p in backbone.parameters())


class Kept(InMemoryDataset):
    """Graphs of a real PyG dataset, with an attribute of each graph."""

    def __init__(self, found, transform):
        super().__init__(transform=transform)
        self.data, self.slices = self.collate(found)


@pytest.mark.parametrize("name", [n for n, m in METHODS.items() if not m.cls.mixes])
def test_as_the_transform_of_a_dataset(name):
    """Labels, shapes and attributes of graphs stay; the stored graphs are not touched."""
    found = graphs(x="onehot", edge_width=None)
    for number, data in enumerate(found):
        data.fold = torch.tensor([number])
    method = METHODS[name].create(degree_features=False) if METHODS[name].cls.makes_graphs else METHODS[name].create()
    dataset = Kept(found, method.fit(found))
    assert torch.equal(dataset.y, torch.cat([g.y for g in found]))
    changed = 0
    for _ in range(2):
        for got, data in zip(dataset, found, strict=True):
            assert torch.equal(got.y, data.y)
            assert torch.equal(got.fold, data.fold)
            assert got.validate()
            changed += got.num_nodes != data.num_nodes or not torch.equal(got.edge_index, data.edge_index)
    assert (changed > 0) == method.makes_graphs
    dataset.transform = None
    assert all(torch.equal(a.edge_index, b.edge_index) for a, b in zip(dataset, found, strict=True))
    (batch,) = DataLoader(Kept(found, method), batch_size=12)
    assert batch.y.dtype == torch.long
    assert batch.y.shape == (12,)


def test_one_graph_is_changed_with_probability_ratio():
    (data,) = graphs(1, nodes=12, density=0.8)
    method = DropEdge(0.5, ratio=0.25)
    changed = sum(method(data).num_edges != data.num_edges for _ in range(400))
    assert 70 < changed < 130  # standard deviation 9


def test_graphs_that_cannot_tell_leave_degrees_open():
    """In a triangle all degrees are alike: the next graph decides."""
    triangle = Data(edge_index=torch.tensor([[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]]), x=torch.full((3, 1), 2.0))
    path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), x=torch.tensor([[1.0], [2.0], [1.0]]))
    method = DropEdge(1.0)
    assert method(triangle).x[:, 0].tolist() == [2, 2, 2]
    with pytest.warns(UserWarning, match="x holds node degrees"):
        assert method(path).x[:, 0].tolist() == [0, 0, 0]
    assert method(triangle).x[:, 0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("y", [torch.tensor([2]), torch.tensor([[0.0, 1.0]]), torch.tensor([0.5]), None])
def test_methods_that_keep_labels_leave_them_alone(y):
    found = graphs()
    for data in found:
        data.y = y
    out = DropEdge(0.5, replace=False)(Batch.from_data_list(found))
    assert out.num_graphs == 24
    assert out.y is None if y is None else torch.equal(out.y, y.repeat(24, *[1] * (y.dim() - 1)))
    assert y is None or out.y.dtype == y.dtype


def test_attributes_travel_through_lists_and_evaluation():
    found = graphs()
    for number, data in enumerate(found):
        data.title, data.place = f"graph {number}", torch.tensor([[float(number), 1.0]])
    for out in (DropEdge()(found), DropEdge().eval_batch(found), DropEdge().eval_batch(Batch.from_data_list(found))):
        assert sorted(out.title) == sorted(g.title for g in found)
        for data in out.to_data_list():
            assert data.title == f"graph {int(data.place[0, 0])}"
            assert int(data.y) == int(found[int(data.place[0, 0])].y)
    mix = SubMix(num_classes=3)
    with pytest.warns(UserWarning, match="SubMix leaves out place, title: a mixture of two graphs has none"):
        assert "title" not in mix(found)
    assert "title" not in mix(Batch.from_data_list(found))  # said once: a second warning would be an error
    assert SubMix(num_classes=3).eval_batch(found).title == [g.title for g in found]


def test_attributes_that_name_nodes_do_not_outlive_a_change():
    """PyG shifts them by the number of nodes: in a smaller graph they would point elsewhere."""
    found = graphs()
    for data in found:
        data.pair_index = torch.tensor([[0], [data.num_nodes - 1]])
    assert "pair_index" not in DropNode(0.5)(found)
    assert "pair_index" not in DropNode(0.5)(found[0])
    assert "pair_index" in found[0]
    kept = DropNode().eval_batch(found).to_data_list()
    assert all(torch.equal(a.pair_index, b.pair_index) for a, b in zip(kept, found, strict=True))


def test_a_batch_of_one_says_that_nothing_is_added():
    (only,) = graphs(1)
    mix, drop = SubMix(num_classes=3), DropNode(0.5, ratio=0.5)
    with pytest.warns(UserWarning, match="SubMix adds nothing to a batch of one: it mixes two graphs") as found:
        assert mix([only]).num_graphs == 1
    assert found[0].filename == __file__  # the user's own line
    with pytest.warns(UserWarning, match=r"DropNode adds nothing to a batch of one: a ratio of 0\.5 rounds to none"):
        drop([only])
    mix([only])  # said once: a second warning would be an error
    drop(graphs())
    assert DropNode(0.5, ratio=1.0)([only]).augmented.any()


@pytest.mark.parametrize("key", ["x", "edge_attr"])
def test_nan_in_a_batch_is_refused(key):
    found = graphs()
    found[3][key][0, 0] = float("nan")
    for method in (SubMix(num_classes=3), DropEdge()):
        with pytest.raises(InputError, match=f"{key} of graph 3 holds NaN or infinity"):
            method(Batch.from_data_list(found))


@pytest.mark.parametrize("form", [list, Batch.from_data_list])
def test_labels_that_are_texts_are_refused(form):
    found = graphs()
    for data in found:
        data.y = "active"
    for method in (SubMix(num_classes=3), DropEdge()):
        with pytest.raises(InputError, match="the label y of graph 0 is 'active', not a number: number the classes"):
            method(form(found))


@pytest.mark.parametrize("dtype", [torch.float, torch.double, torch.long])
def test_values_of_shape_b_stay_of_shape_b(dtype):
    found = graphs()
    for i, data in enumerate(found):
        data.y = torch.tensor([7 * i], dtype=dtype)
    method = SubMix(task="values").fit(found)
    batch = method(Batch.from_data_list(found))
    assert batch.y.shape == (batch.num_graphs,)
    assert batch.y.is_floating_point()
    assert method.eval_batch(found).y.tolist() == [7.0 * i for i in range(len(found))]
    assert all(g.y.shape == (1,) for g in method.generate(found, count=3))


def test_integers_that_may_be_values_are_asked_about():
    found = graphs(40)
    for i, data in enumerate(found):
        data.y = torch.tensor([5 * i])
    with pytest.raises(InputError, match=r"40 different integers up to 195 in 40 graphs: say task='values'"):
        SubMix().fit(found)
    with pytest.raises(InputError, match="say task='values'"):
        LearnedCost().fit(found)
    assert SubMix(task="classes").fit(found).num_classes_ == 196
    assert SubMix(task="values").fit(found).num_classes_ is None
    cost = LearnedCost(hidden_channels=8).fit(found, task="values", epochs=1, progress=False)
    assert cost.history_[0].ordered is not None  # some are held out, which needs values and not 40 classes
