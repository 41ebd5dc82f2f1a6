"""Cases in memory: graphs as they should be, judged by independent oracles, and graphs as they should not."""

import warnings
from contextlib import suppress

import numpy as np
import torch
from torch_geometric.data import Batch

from epic import EPIC, InputError, UnitCost, edit_distance, edit_path, pack
from epic.augment import FGWMixup, GeoMix
from tests.fuzz import distances, odd, paths
from tests.fuzz.oracle import agree


def batches(rng, folder):
    """Packed graphs against PyG's own batching, both ways."""
    listed = odd.graphs(rng, int(rng.integers(1, 6)))
    batch = Batch.from_data_list(listed)
    for packed in (pack(listed), pack(batch)):
        agree(packed.ptr.tolist() == batch.ptr.tolist(), "ptr")
        agree(packed.edge_index.tolist() == batch.edge_index.tolist(), "edges")
        for key in ("x", "edge_attr", "y"):
            ours = packed.y if key == "y" else {**packed.node, **packed.edge}.get(key)
            agree((ours is None) == (batch.get(key) is None), key)
            agree(ours is None or torch.equal(ours, batch[key]), key)
        for again, g in zip(packed.to_batch().to_data_list(), listed, strict=True):
            agree(again.edge_index.tolist() == g.edge_index.tolist(), "edges of a graph")
    return "accepted"


def augmented(rng, folder):
    """Augmented batches are graphs, and the originals come first and unchanged."""
    listed = odd.graphs(rng, int(rng.integers(2, 6)))
    augment = EPIC(
        distances.a_cost(rng),
        num_classes=3,
        seed=int(rng.integers(1 << 30)),
        degree_features=False,
        matching=["nodes", "edges"][rng.integers(2)],
        order=["random", "bfs", "connected"][rng.integers(3)],
    )
    before = [odd.plain_graph(g) for g in listed]
    made = augment(Batch.from_data_list(listed))
    agree([odd.plain_graph(g) for g in listed] == before, "an original was changed")
    agree([odd.plain_graph(g) for g in made.to_data_list()[: len(listed)]] == before, "an original came out changed")
    owner = made.batch[made.edge_index]
    agree(torch.equal(owner[0], owner[1]), "an edge joins two graphs")
    agree(bool(torch.isfinite(made.y).all()) and bool(((made.y.sum(1) - 1).abs() < 1e-5).all()), "labels are no shares")
    return "accepted"


def pools(rng, folder):
    """Pools of mixed graphs: features and edges have the mean that both graphs give them, labels their shares."""
    listed = odd.graphs(rng, int(rng.integers(2, 5)), least=1, x=[None, "float"][rng.integers(2)], loops=False)
    for k, graph in enumerate(listed):
        graph.y = torch.tensor([k])
    share = float(rng.random())
    method = FGWMixup(1.0, seed=0, ratio=1.0) if rng.random() < 0.5 else GeoMix(share, seed=0, cut=0.0)
    method.fit(listed, progress=False, folder=folder if rng.random() < 0.2 else None)
    for k, (one, two, part) in enumerate(method.pool_.y.tolist()):
        made, parts = method.pool_.graph(k), ((part, listed[int(one)]), (1 - part, listed[int(two)]))
        if isinstance(method, GeoMix):
            agree(part >= 1 - share, f"share {part}")
            total = sum(p * g.num_edges / g.num_nodes**2 for p, g in parts) * made.num_nodes**2
            agree(abs(float(made.edge_weight.sum()) - total) < 1e-3, "the sum of weights")
            x = None if made.x is None else sum(p * g.x.double().mean(0) for p, g in parts)
            agree(x is None or torch.allclose(made.x.double().mean(0), x, atol=1e-3), "the mean of features")
        else:
            size = sum(p * g.num_nodes for p, g in parts)
            agree(abs(made.num_nodes - size) <= 0.5 + 1e-9 or made.num_nodes == 1, f"{made.num_nodes} of {size} nodes")
    made = method(listed)
    new = made.y[made.augmented]
    agree(bool(((new.sum(1) - 1).abs() < 1e-5).all()) and int((new > 0).sum(1).max()) <= 2, "labels are no shares")
    before = [odd.plain_graph(g) for g in listed]
    agree([odd.plain_graph(g) for g in made.to_data_list()[: len(listed)]] == before, "an original came out changed")
    return "accepted"


def odd_graphs(rng, folder):
    """Graphs with odd attributes, in a list or a batch: refused, or packed as they say."""
    listed = odd.graphs(rng, int(rng.integers(1, 4)))
    at = int(rng.integers(len(listed)))
    listed[at] = odd.mutated_graph(rng, listed[at])
    given = listed
    if rng.random() < 0.3:
        try:
            given = Batch.from_data_list(listed)
        except Exception:
            return "refused"  # by PyG
    packed = pack(given, check=bool(rng.random() < 0.5))
    if given is listed:
        for i, g in enumerate(listed):
            agree(odd.plain_graph(packed.graph(i)) == odd.plain_graph(g), f"graph {i} was packed otherwise")
            agree(g.to_dict().get("num_nodes") in (None, int(packed.sizes[i])), "num_nodes")
    used(packed)
    return "accepted"


def odd_calls(rng, folder):
    """Calls on odd graphs end in a sentence or in an answer."""
    one, two = odd.graphs(rng, 2)
    one = odd.mutated_graph(rng, one)
    if rng.random() < 0.5:
        one, two = two, one
    call, cost = rng.integers(4), distances.a_cost(rng)
    if call == 0:
        agree(np.isfinite(cost.distance(one, two)), "a distance that is none")
    elif call == 1:
        agree(np.isfinite(edit_distance(one, two, cost, method=["edges", "hausdorff"][rng.integers(2)])), "no distance")
    elif call == 2:
        path = edit_path(one, two, cost, matching=["nodes", "edges"][rng.integers(2)], num_classes=3)
        agree(path[len(path)].num_nodes == pack([two]).num_nodes, "the path ends elsewhere")
    else:
        EPIC(cost, num_classes=3, degree_features=False)([one, two, two])
    return "accepted"


def used(packed):
    """Do what everybody does with graphs."""
    packed.to_batch().to_data_list()
    packed.select(torch.arange(len(packed)).flip(0))
    packed.degree()
    if len(packed) and packed.num_nodes < 1000:
        with suppress(InputError):
            UnitCost().distances(packed[:3], packed[:3], progress=False)


CASES = {
    **distances.CASES,
    **paths.CASES,
    **{f.__name__: f for f in (batches, augmented, pools, odd_graphs, odd_calls)},
}
warnings.filterwarnings("ignore", message="Unable to accurately infer|Sparse|.*non-writable|x holds node degrees")
