import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader

from epic import InputError
from epic.graphs.convert import pack
from epic.graphs.packed import join
from tests.sample_graphs import random_graph


def some(kind="float", count=6, edge_width=2):
    rng = np.random.default_rng(0)
    return [random_graph(rng, n, x=kind, edge_width=edge_width, y=[n % 3]) for n in (4, 1, 0, 7, 3, 5)[:count]]


def same(a: Data, b: Data) -> None:
    assert a.num_nodes == b.num_nodes
    for key in ("x", "edge_index", "edge_attr", "y"):
        assert (a.get(key) is None) == (b.get(key) is None)
        if a.get(key) is not None:
            assert torch.equal(a[key], b[key]), key


@pytest.mark.parametrize(("kind", "edge_width"), [("float", 2), ("int", 0), (None, None), ("onehot", 1)])
def test_graphs_come_back_whole_through_every_form(kind, edge_width):
    graphs = some(kind, edge_width=edge_width)
    packed = pack(graphs)
    again = pack(Batch.from_data_list(graphs))
    for form in (packed, again, join([packed.select(torch.tensor([0, 1])), packed.select(torch.arange(2, 6))])):
        for g, original in enumerate(graphs):
            same(form.graph(g), original)
    for got, original in zip(packed.to_batch().to_data_list(), graphs, strict=True):
        same(got, original)
    assert packed.to_batch().num_graphs == 6


def test_select_repeats_and_reorders():
    graphs = some()
    picked = pack(graphs).select(torch.tensor([3, 0, 3]))
    for g, original in enumerate((3, 0, 3)):
        same(picked.graph(g), graphs[original])


def test_a_pack_is_a_sequence_of_graphs():
    graphs = some()
    packed = pack(graphs)
    for got, g in zip(packed, graphs, strict=True):
        same(got, g)
    same(packed[-1], graphs[-1])
    same(packed[np.int64(3)], graphs[3])
    for beyond in (6, -7):
        with pytest.raises(IndexError):
            packed[beyond]
    for part in (slice(1, 4), slice(None, None, -2), slice(5, 2)):
        assert len(packed[part]) == len(graphs[part])
        for got, g in zip(packed[part], graphs[part], strict=True):
            same(got, g)
    assert repr(packed) == f"PackedGraphs(6 graphs, 20 nodes, {packed.edge_index.shape[1]} edges, " + (
        f"x [20, 3], edge_attr [{packed.edge_index.shape[1]}, 2], y [6])"
    )


def test_pygs_loader_takes_a_pack():
    packed = pack(some())
    batches = list(DataLoader(packed, batch_size=4))
    for got, want in zip(batches, (packed[:4], packed[4:]), strict=True):
        for key in ("x", "edge_index", "edge_attr", "y", "ptr"):
            assert torch.equal(got[key], want.to_batch()[key])


def test_edges_shuffled_across_graphs_are_sorted_back():
    batch = Batch.from_data_list(some())
    mix = torch.randperm(batch.edge_index.shape[1])
    batch.edge_index, batch.edge_attr = batch.edge_index[:, mix], batch.edge_attr[mix]
    packed = pack(batch)
    whole = pack(some())
    assert torch.equal(packed.edge_ptr, whole.edge_ptr)
    key = lambda p: sorted(zip(*p.edge_index.tolist(), *p.edge_attr.T.tolist(), strict=True))  # noqa: E731
    assert key(packed) == key(whole)


def test_other_attributes_find_their_room():
    g = Data(
        x=torch.ones(3, 1), edge_index=torch.tensor([[0], [1]]), pos=torch.rand(3, 2), smiles="CCO", z=torch.arange(3)
    )
    packed = pack([g, g])
    assert set(packed.node) == {"x", "pos", "z"}
    assert set(pack(Batch.from_data_list([g, g])).node) == {"x", "pos", "z"}


BAD = [
    ([], "there are no graphs"),
    ("NCI1", "expected PyG graphs"),
    ([3], "graph 0 is a int"),
    ([Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [2]]))], "edge 0 -> 2, but its nodes are 0 .. 1"),
    ([Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0.0], [1.0]]))], "must be integers"),
    (
        [
            Data(x=torch.ones(2, 1), edge_index=torch.zeros(2, 0).long()),
            Data(x=torch.ones(2, 3), edge_index=torch.zeros(2, 0).long()),
        ],
        r"x of graph 1 has width \[3\], graph 0 has \[1\]",
    ),
    ([Data(x=torch.tensor([[1.0], [torch.nan]]), edge_index=torch.zeros(2, 0).long())], r"NaN or infinity \(row 1\)"),
    (
        [
            Data(x=torch.ones(1, 1), edge_index=torch.zeros(2, 0).long(), y=torch.tensor([1])),
            Data(x=torch.ones(1, 1), edge_index=torch.zeros(2, 0).long()),
        ],
        "graph 1 has no label y",
    ),
]


@pytest.mark.parametrize(("graphs", "message"), BAD)
def test_bad_graphs_are_refused_with_the_value(graphs, message):
    with pytest.raises(InputError, match=message):
        pack(graphs)


EMPTY = torch.zeros(2, 0).long()
MIXED = [Data(edge_index=EMPTY, num_nodes=2), Data(x=torch.ones(2, 1), edge_index=EMPTY)]


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        (MIXED, "graph 0 has no x but graph 1 has"),
        (MIXED[::-1], "graph 1 has no x but graph 0 has"),
        (
            [Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0], [1]]), edge_attr=torch.ones(3, 1))],
            "3 rows for 1 edges",
        ),
        ([Data(x=torch.ones(3, 1), adj_t=torch.eye(3).to_sparse_csr())], "leave out ToSparseTensor"),
        (HeteroData(), "several kinds of nodes"),
        ([HeteroData()], "not a torch_geometric.data.Data"),
    ],
)
@pytest.mark.filterwarnings("ignore:Sparse")
def test_what_would_be_lost_silently_is_refused(graphs, message):
    with pytest.raises(InputError, match=message):
        pack(graphs)


def test_batches_that_are_wrong_are_refused():
    batch = Batch.from_data_list(some())
    batch.edge_index = batch.edge_index.clone()
    batch.edge_index[1, 0] = batch.num_nodes - 1
    with pytest.raises(InputError, match="joins graph 0 with graph 5"):
        pack(batch, check=False)
    batch = Batch.from_data_list(some())
    batch.edge_attr = batch.edge_attr[:-1]
    with pytest.raises(InputError, match="edge_attr of the batch has"):
        pack(batch, check=False)
    kinds = HeteroData()
    kinds["a"].x = torch.ones(2, 1)
    with pytest.raises(InputError, match="several kinds of nodes"):
        pack(Batch.from_data_list([kinds, kinds]))


def test_subsets_point_clouds_and_follow_batch():
    from torch.utils.data import Subset

    graphs = some()
    assert len(pack(Subset(graphs, [3, 0]))) == 2
    cloud = Data(x=torch.ones(3, 1))
    assert pack([cloud, cloud]).edge_index.shape == (2, 0)
    assert pack(Batch.from_data_list([cloud, cloud])).sizes.tolist() == [3, 3]
    assert set(pack(Batch.from_data_list(graphs, follow_batch=["x"])).node) == {"x"}


def test_an_edge_into_the_next_graph_is_found():
    """Its index is in range of the whole, so only a check for each graph sees it."""
    a = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [3]]))
    b = Data(x=torch.ones(9, 1), edge_index=torch.tensor([[0], [1]]))
    with pytest.raises(InputError, match="graph 0 has the edge 0 -> 3"):
        pack([a, b])


def test_graphs_are_told_apart_by_ptr_even_if_batch_was_changed():
    batch = Batch.from_data_list([Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2) for _ in range(3)])
    batch.batch = batch.batch + 1
    batch.edge_index = batch.edge_index.to(torch.int32)
    assert pack(batch, check=False).edge_ptr.tolist() == [0, 2, 4, 6]


def test_a_batch_with_labels_laid_flat_is_understood():
    graphs = [
        Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([0.2, 0.8])) for _ in range(3)
    ]
    assert pack(Batch.from_data_list(graphs)).y.shape == (3, 2)
