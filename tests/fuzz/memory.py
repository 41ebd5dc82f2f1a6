"""Cases in memory: graphs as they should be, judged by independent oracles, and graphs as they should not."""

import warnings
from contextlib import suppress

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch_geometric.data import Batch

from epic import EPIC, FeatureCost, InputError, UnitCost, edit_path, pack
from tests.fuzz import odd
from tests.paths.reference import Slow, named


class WrongAnswer(AssertionError):
    """An oracle says otherwise."""


def agree(condition, what):
    if not condition:
        raise WrongAnswer(what)


def distances(rng, folder):
    """Distances against scipy on the full square of substitutions, deletions and insertions."""
    one, two = odd.graphs(rng, 2)
    cost = UnitCost() if rng.random() < 0.5 else FeatureCost([None, 0.3, 2.0][rng.integers(3)])
    embedded = [cost.embed(pack([g])) for g in (one, two)]
    inner = cost.substitution(embedded[0].embedding, embedded[1].embedding).double().numpy()
    n, m = inner.shape
    square = np.full((n + m, n + m), 1e12)
    square[:n, :m] = inner
    square[range(n), range(m, m + n)] = embedded[0].deletion.double()
    square[range(n, n + m), range(m)] = embedded[1].insertion.double()
    square[n:, m:] = 0
    best = square[linear_sum_assignment(square)].sum()
    found = float(cost.distance(one, two))
    agree(abs(found - best) <= 1e-5 * max(1, abs(best)), f"distance {found}, scipy {best}")
    return "accepted"


def paths(rng, folder):
    """Every graph on a path against Algorithm 1 on dictionaries."""
    one, two = odd.graphs(rng, 2)
    path = edit_path(one, two, UnitCost(), order=["random", "bfs"][rng.integers(2)], seed=int(rng.integers(1 << 30)))
    slow = Slow(one, two)
    for k, operation in enumerate(path.operations, 1):
        slow.apply(operation)
        agree(named(path[k]) == (slow.nodes, slow.edges), f"step {k} of {len(path)}")
    return "accepted"


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
    augment = EPIC(UnitCost(), num_classes=3, seed=int(rng.integers(1 << 30)), degree_features=False)
    before = [odd.plain_graph(g) for g in listed]
    made = augment(Batch.from_data_list(listed))
    agree([odd.plain_graph(g) for g in listed] == before, "an original was changed")
    agree([odd.plain_graph(g) for g in made.to_data_list()[: len(listed)]] == before, "an original came out changed")
    owner = made.batch[made.edge_index]
    agree(torch.equal(owner[0], owner[1]), "an edge joins two graphs")
    agree(bool(torch.isfinite(made.y).all()) and bool(((made.y.sum(1) - 1).abs() < 1e-5).all()), "labels are no shares")
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
        agree(np.isfinite(float(UnitCost().distance(one, two))), "a distance that is none")
    else:
        EPIC(UnitCost(), num_classes=3, degree_features=False)([one, two, two])
    return "accepted"


def used(packed):
    """Do what everybody does with graphs."""
    packed.to_batch().to_data_list()
    packed.select(torch.arange(len(packed)).flip(0))
    packed.degree()
    if len(packed) and packed.num_nodes < 1000:
        with suppress(InputError):
            UnitCost().distances(packed[:3], packed[:3], progress=False)


CASES = {f.__name__: f for f in (distances, paths, batches, augmented, odd_graphs, odd_calls)}
warnings.filterwarnings("ignore", message="Unable to accurately infer|Sparse|.*non-writable|x holds node degrees")
