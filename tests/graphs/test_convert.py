import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader

from epic import EPIC, InputError, UnitCost
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


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint64, torch.float8_e5m2, torch.long])
def test_what_a_whole_graph_has_comes_back_as_a_copy(dtype):
    energy = torch.tensor([3, 1]).to(dtype)
    g = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0], [1]]), energy=energy)
    found = pack([g]).graph(0).energy
    assert found.dtype == dtype
    assert found.long().tolist() == [3, 1]
    assert found.data_ptr() != energy.data_ptr()


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


def one(**changes):
    values = {"x": torch.ones(3, 2), "edge_index": torch.tensor([[0, 1], [1, 2]]), "y": torch.tensor([1]), **changes}
    return Data(**{k: v for k, v in values.items() if v is not None})


@pytest.mark.parametrize(
    "changes",
    [
        {"x": np.ones((3, 2), dtype=np.float32)},
        {"x": np.ones((3, 2), dtype=np.float32)[::-1]},
        {"x": [[1.0, 1.0]] * 3},
        {"edge_index": [[0, 1], [1, 2]]},
        {"edge_index": np.array([[0, 1], [1, 2]])},
        {"edge_index": torch.tensor([[0, 1], [1, 2]], dtype=torch.int32)},
        {"edge_index": torch.tensor([[0, 1], [1, 2]], dtype=torch.uint8)},
        {"y": 1},
        {"y": [1]},
        {"y": np.int64(1)},
        {"y": np.array([1])},
        {"y": torch.tensor([True])},
        {"num_nodes": 3},
        {"num_nodes": np.int32(3)},
        {"num_nodes": torch.tensor(3)},
    ],
)
def test_what_can_mean_one_thing_only_is_converted(changes):
    graph = one(**changes)
    packed = pack([graph, one()])
    for g in range(2):
        same(packed.graph(g), one())
    assert graph.to_dict().keys() == one(**changes).to_dict().keys(), "the original stays as it was"
    for key, value in changes.items():
        assert type(graph[key]) is type(value)


EDGES = torch.tensor([[0, 1], [1, 2]])
ODD = [
    ({"x": torch.tensor(1.0), "num_nodes": 3}, "x of graph 1 has no rows for 3 nodes"),
    ({"x": torch.eye(3).to_sparse()}, r"x of graph 1 is a sparse or nested tensor: .*to_dense"),
    ({"x": torch.ones(3, 2, device="meta")}, "x of graph 1 is on the device meta"),
    ({"x": torch.ones(3, 2, dtype=torch.cfloat)}, "x of graph 1 is torch.complex64: convert it"),
    ({"x": torch.ones(3, 2).to(torch.float8_e5m2)}, "x of graph 1 is torch.float8_e5m2"),
    ({"x": "CCO"}, "x of graph 1 is a str: make it a tensor"),
    ({"x": [["a"], ["b"], ["c"]]}, "x of graph 1 is a list that is no tensor of numbers"),
    ({"x": [[1.0], [1.0, 2.0], []]}, "x of graph 1 is a list that is no tensor of numbers"),
    ({"x": torch.full((3, 2), torch.nan)}, r"x of graph 1 holds NaN or infinity \(row 0\)"),
    ({"y": "toxic"}, "the label y of graph 1 is .toxic., not a number"),
    ({"y": ["toxic"]}, "the label y of graph 1 is .toxic., not a number"),
    ({"y": torch.tensor([1j])}, "y of graph 1 is torch.complex64"),
    ({"y": torch.zeros(0)}, "y of graph 1 is empty"),
    ({"y": torch.tensor([1.0]).to_sparse()}, "y of graph 1 is a sparse"),
    ({"edge_index": EDGES.bool()}, r"edge_index of graph 1 must be integers of shape \[2, edges\], got torch.bool"),
    ({"edge_index": EDGES.to_sparse()}, "edge_index of graph 1 is a sparse"),
    ({"edge_index": [[0, 1], [1]]}, "edge_index of graph 1 is a list that is no tensor of numbers"),
    ({"edge_index": EDGES[0]}, "edge_index of graph 1 must be integers"),
    ({"num_nodes": -1}, "num_nodes of graph 1 is -1"),
    ({"num_nodes": 3.0}, "num_nodes of graph 1 is 3.0"),
    ({"num_nodes": "3"}, "num_nodes of graph 1 is '3'"),
    ({"num_nodes": torch.tensor(2**64 - 1, dtype=torch.uint64)}, r"num_nodes of graph 1 is tensor\(1844"),
    ({"num_nodes": torch.tensor(3, device="meta")}, r"num_nodes of graph 1 is tensor\(.*meta"),
    ({"num_nodes": True}, "num_nodes of graph 1 is True"),
    ({"num_nodes": 4}, "x of graph 1 has 3 rows for 4 nodes"),
    ({"num_nodes": 2}, "x of graph 1 has 3 rows for 2 nodes"),
    ({"pos": torch.ones(4, 3)}, "pos of graph 1 has 4 rows for 3 nodes"),
    ({"edge_weight": torch.ones(3)}, "edge_weight of graph 1 has 3 rows for 2 edges"),
    ({"edge_attr": torch.tensor(1.0)}, "edge_attr of graph 1 has no rows for 2 edges"),
]


@pytest.mark.parametrize(("changes", "message"), ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("check", [True, False])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_odd_graphs_are_refused_with_the_remedy(changes, message, check):
    with pytest.raises(InputError, match=message):
        pack([one(edge_attr=torch.ones(2, 1)) if "edge_attr" in changes else one(), one(**changes)], check=check)


@pytest.mark.parametrize("count", [10**8, 10**15])
def test_a_number_of_nodes_alone_asks_for_no_memory(count):
    bare = Data(edge_index=EDGES, num_nodes=3)
    assert pack([bare, Data(edge_index=EDGES, num_nodes=10**6)]).num_nodes == 10**6 + 3
    with pytest.raises(InputError, match=f"graph 1.*{count}"):
        pack([bare, Data(edge_index=EDGES, num_nodes=count)])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": ["a", "b"]}, "x of the batch is a list"),
        ({"x": torch.full((6, 2), torch.nan)}, "x of graph 0 holds NaN"),
        ({"y": ["toxic", "not"]}, "the label y of graph 0 is .toxic., not a number"),
        ({"y": torch.tensor(1)}, r"y is \[\] for 2 graphs"),
        ({"y": torch.zeros(2, 0)}, "y of the batch is empty"),
        ({"ptr": torch.tensor([0.0, 3.0, 6.0])}, "ptr of the batch must be integers"),
        ({"ptr": torch.tensor([0, 7, 6])}, "ptr of the batch must rise from 0"),
        ({"ptr": torch.tensor([0, 3, 10**12])}, "x of the batch has 6 rows"),
        ({"ptr": torch.tensor([0, 3, 10**12]), "x": None}, "correct num_nodes"),
        ({"ptr": None, "batch": torch.tensor([0, 1, 0, 1, 0, 1])}, "in rising order"),
        ({"edge_index": torch.zeros(2, 4).bool()}, "edge_index of the batch must be integers"),
    ],
)
def test_odd_batches_are_refused(changes, message):
    batch = Batch.from_data_list([one(), one()])
    for key, value in changes.items():
        batch[key] = value
    with pytest.raises(InputError, match=message):
        pack(batch, check=False)


def test_edges_that_wrapped_around_in_a_batch_are_refused():
    """PyG adds up small integers beyond their range: edges would silently move to an earlier graph."""
    graph = Data(x=torch.ones(100, 1), edge_index=torch.tensor([[0], [99]], dtype=torch.uint8))
    assert pack([graph] * 3).edge_index.tolist() == [[0, 100, 200], [99, 199, 299]]
    with pytest.raises(InputError, match=r"is torch.uint8, which cannot number 300 nodes: use torch.long"):
        pack(Batch.from_data_list([graph] * 3))


def test_labels_that_a_call_does_not_use_may_be_anything():
    """A class of -1 often says that there is none. Calls that use labels refuse it; distances do not."""
    graphs = [one(y=torch.tensor([-1])), one()]
    assert float(UnitCost().distance(*graphs)) == 0
    with pytest.raises(InputError, match="class index -1 is negative"):
        EPIC(cost=UnitCost()).fit(graphs)


def test_rows_that_are_none_do_not_count_nodes():
    graph = Data(edge_index=torch.tensor([[0], [1]]), pos=torch.tensor(1.0), y=torch.tensor([0]))
    with pytest.raises(InputError, match="graph 0 has neither x nor num_nodes"):
        pack([graph])
