"""Cases of distances: each against every assignment, scipy or networkx."""

from unittest.mock import patch

import networkx as nx
import numpy as np

from epic import EdgeCost, FeatureCost, UnitCost, edit_distance, edit_path
from epic.distance import pairs as room
from epic.distance.ged import METHODS
from epic.matching import large
from tests.distance.reference import brute_force, edge_cost, node_cost
from tests.fuzz import odd
from tests.fuzz.oracle import agree, least, near, node_prices


def a_cost(rng):
    return UnitCost() if rng.random() < 0.5 else FeatureCost([None, 0.3, 2.0][rng.integers(3)])


def an_edge_cost(rng):
    """A cost of edges, and what the slow references must know of it."""
    price = [(1.0, 1.0, 1.0), (0.5, 2.0, 0.7), (0.0, 0.0, 0.0), (1.0, 1.0, 5.0), tuple(rng.uniform(0, 2, 3))]
    price, directed = price[rng.integers(len(price))], bool(rng.random() < 0.5)
    made = EdgeCost(insertion=price[0], deletion=price[1], substitution=price[2], directed=directed)
    return made, {"price": price, "directed": directed}


def distances(rng, folder):
    """One distance against scipy."""
    one, two = odd.graphs(rng, 2)
    cost = a_cost(rng)
    near(cost.distance(one, two), least(*node_prices(cost, one, two)), "distance")
    return "accepted"


def matrices(rng, folder):
    """Matrices and nearest neighbours against scipy, pair by pair."""
    graphs, cost = odd.graphs(rng, int(rng.integers(3, 6))), a_cost(rng)
    truth = np.array([[least(*node_prices(cost, a, b)) for b in graphs] for a in graphs])
    whole = cost.distances(graphs, progress=False).numpy()
    agree(np.allclose(whole, truth, rtol=1e-5, atol=1e-5), f"matrix {whole.tolist()}, scipy {truth.tolist()}")
    k, own = int(rng.integers(1, len(graphs))), rng.random() < 0.5
    found = cost.nearest(graphs, None if own else graphs, k=k, progress=False)
    np.fill_diagonal(truth, np.inf if own else np.diag(truth))
    chosen = np.take_along_axis(truth, found.index.numpy(), 1)
    agree(all(len(set(row)) == k for row in found.index.tolist()), "a neighbour twice")
    for what in (chosen, found.distance.numpy()):
        agree(np.allclose(what, np.sort(truth, 1)[:, :k], rtol=1e-5, atol=1e-5), f"nearest {what.tolist()}")
    return "accepted"


def bounds(rng, folder):
    """Every method of the edit distance between tiny graphs against all assignments, and networkx."""
    one, two = odd.graphs(rng, 2, most=4)
    cost, (edges, told) = a_cost(rng), an_edge_cost(rng)
    prices = node_prices(cost, one, two)
    truth = brute_force(one, two, *prices, **told)
    for method in METHODS:
        found = edit_distance(one, two, cost, method=method, edge_cost=edges)
        slack = 1e-5 * max(1, truth)
        agree(found.lower <= truth + slack, f"{method}: lower bound {found.lower} of {truth}")
        if method == "nodes":
            near(found, least(*prices), method)
        elif method != "hausdorff":
            spent = node_cost(*prices, found.match) + edge_cost(one, two, found.match, **told)
            near(found.upper, spent, f"{method}: cost of its match")
            agree(found.upper >= truth - slack, f"{method}: upper bound {found.upper} of {truth}")
    near(found, truth, "exact")
    agree(found.exact, "exact is not")
    loops = bool((one.edge_index[0] == one.edge_index[1]).any() | (two.edge_index[0] == two.edge_index[1]).any())
    if one.x is not None and isinstance(cost, UnitCost) and told["price"] == (1.0, 1.0, 1.0) and not loops:
        near(found, by_networkx(one, two, told["directed"]), "networkx")
    return "accepted"


def by_networkx(one, two, directed):
    """The exact distance of graphs at unit cost; both ways of an edge are an edge each, for half the price."""
    nets = []
    for g in (one, two):
        net = nx.DiGraph()
        net.add_nodes_from((u, {"x": row}) for u, row in enumerate(g.x.tolist()))
        attr = [None] * g.num_edges if g.edge_attr is None else g.edge_attr.tolist()
        net.add_edges_from((u, v, {"w": w}) for (u, v), w in zip(g.edge_index.T.tolist(), attr, strict=True))
        nets.append(net)
    half = 1.0 if directed else 0.5
    return nx.graph_edit_distance(
        *nets,
        node_match=lambda a, b: a["x"] == b["x"],
        edge_subst_cost=lambda a, b: half * (a["w"] != b["w"]),
        edge_del_cost=lambda a: half,
        edge_ins_cost=lambda a: half,
    )


def parts(rng, folder):
    """Pairs that count as large: an assignment, not cheaper than the cheapest, and bounds that hold."""
    one, two = odd.graphs(rng, 2, most=40, density=0.1)
    cost, block = a_cost(rng), int(rng.integers(2, 12))
    prices = node_prices(cost, one, two)
    truth = least(*prices)
    with patch.object(room, "LARGE", 0), patch.object(large, "BLOCK", block):
        found = edit_distance(one, two, cost)
        path = edit_path(one, two, cost, seed=0)
        near(cost.distance(one, two), float(found), "two distances in parts")
        near(cost.distance(one, two, exact=True), truth, "exact distance")
    kept = [v for v in found.match if v >= 0]
    agree(len(kept) == len(set(kept)) and max(kept, default=-1) < two.num_nodes, f"no assignment: {found.match}")
    near(found, node_cost(*prices, found.match), "cost of the match")
    near(path.distance, float(found), "cost of the path")
    agree(found.lower <= truth + 1e-5 * max(1, truth) <= found + 2e-5 * max(1, truth), f"{found!r}, scipy {truth}")
    return "accepted"


CASES = {f.__name__: f for f in (distances, matrices, bounds, parts)}
