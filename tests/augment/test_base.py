import pytest
import torch
from torch_geometric.data import Batch, Data

from epic import InputError
from epic.augment import GREA, DropEdge, EPICUnit, GMixup, SMixup, SubMix
from epic.graphs.convert import pack
from epic.labels import loss
from epic.train import backbone_for
from tests.augment.tester import graphs


def test_batches_that_differ_in_features_alone_are_changed_differently_whatever_the_workers():
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    features = torch.randn(16, 8, 3, generator=torch.Generator().manual_seed(0))
    rings = [Data(x=x, edge_index=torch.cat([ring, ring.flip(0)], 1), y=torch.tensor(0)) for x in features]
    found = []
    for workers in (0, 2):
        method = DropEdge(p=0.3, ratio=1.0, seed=0, num_classes=2)
        found.append([b.edge_index for b in method.loader(rings, 4, num_workers=workers)])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))
    assert len({str(e.tolist()) for e in found[0]}) == 4


@pytest.mark.parametrize("options", [{}, {"num_workers": 2}, {"shuffle": True}])
def test_a_loader_leaves_the_global_random_state_alone(options):
    loader = DropEdge(num_classes=3, seed=0).loader(graphs(), 4, **options)
    before = torch.get_rng_state()
    list(loader)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_order_of_a_shuffled_loader_follows_the_seed_or_the_generator_given():
    data = graphs()
    for number, graph in enumerate(data):
        graph.y = torch.tensor([float(number)])

    def orders(seed, **options):
        loader = DropEdge(ratio=0, seed=seed, task="values").loader(data, 4, shuffle=True, **options)
        return [torch.cat([b.y for b in loader]).flatten().tolist() for _ in range(2)]

    first, second = orders(0)
    assert first != second, "every pass has an order of its own"
    assert sorted(first) == sorted(second) == list(range(len(data)))
    assert orders(0) == [first, second]
    assert orders(1) != [first, second]
    given = [orders(seed, generator=torch.Generator().manual_seed(5)) for seed in (0, 1)]
    assert given[0] == given[1] != [first, second]


def test_what_the_caller_knows_outlives_fit():
    """A split may lack a class, and two 0/1 tasks may look like one-hot classes."""
    method = DropEdge()
    method.set_label_type("classes", 4)
    method.fit(graphs(num_classes=3))
    assert (method.task, method.num_classes) == ("classes", 4)
    tasks = graphs(num_classes=2)
    for g in tasks:
        g.y = torch.eye(2)[int(g.y)][None]
    method = DropEdge()
    method.set_label_type("binary", None)
    assert method.fit(tasks).task == "binary"
    assert DropEdge().fit(tasks).task == "classes"


def test_mixed_labels_from_a_worker_are_still_known_for_what_they_are():
    found = graphs(24, num_classes=2)
    for g in found:
        g.y = g.y.float()[None]
    model = backbone_for(pack(found), 1, hidden_channels=8, num_layers=2, dropout=0.0).eval()
    values = []
    for workers in (0, 1):
        method = SubMix(seed=0)
        (batch,) = method.loader(found, 24, num_workers=workers)
        values.append(float(method.loss(model, batch).detach()))
    assert values[0] == values[1]
    batch = SubMix(seed=0)(found)
    with pytest.raises(InputError, match="what the labels are is not known"):
        SubMix(seed=0).loss(model, batch)


def test_equal_batches_of_one_epoch_and_of_another_differ_and_can_be_had_again():
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
    assert float(value) == 0
    assert not output.grad.any()


def test_graphs_without_labels_are_no_class_of_g_mixup():
    found = graphs(12, num_classes=2, x="onehot", edge_width=None)
    for i, g in enumerate(found):
        g.y = torch.tensor([[float(i % 2) if i < 8 else float("nan")]])
    out = GMixup(ratio=1.0, seed=0).fit(found)(found)
    assert not out.y[out.augmented].isnan().any()


def test_controls_read_their_own_files(tmp_path):
    method = EPICUnit(ratio=0.3, seed=1).fit(graphs())
    method.save(tmp_path / "u.safetensors")
    assert EPICUnit.load(tmp_path / "u.safetensors").settings() == method.settings()


def test_grea_leaves_nothing_frozen():
    found = graphs(x="onehot")
    method = GREA(seed=0).fit(found)
    backbone = backbone_for(pack(found), 3, hidden_channels=8, num_layers=2)
    model = method.wrap_model(backbone)
    method.begin_epoch(model, 0)
    assert not any(p.requires_grad for p in backbone.parameters())
    method.end(model)
    assert all(p.requires_grad for p in backbone.parameters())
