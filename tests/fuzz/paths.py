"""Cases of edit paths: every graph on the way against Algorithm 1 on dictionaries, networkx and RDKit."""

from functools import cache

import networkx as nx
import torch
from torch_geometric.utils import to_networkx

from epic import UnitCost, counterfactual, edit_path
from epic.data.smiles import molecule
from tests.distance.reference import brute_force, edge_cost, node_cost
from tests.fuzz import odd
from tests.fuzz.distances import a_cost, an_edge_cost
from tests.fuzz.oracle import agree, least, near, node_prices
from tests.paths.reference import Slow, named


def replayed(path, one, two):
    """Compare every graph of a path with Algorithm 1."""
    slow = Slow(one, two)
    for k, operation in enumerate(path.operations, 1):
        slow.apply(operation)
        agree(named(path[k]) == (slow.nodes, slow.edges), f"step {k} of {len(path)}")


def matched(path, nodes):
    """The target node of each source node, or -1."""
    match = dict.fromkeys(range(nodes), -1)
    match |= {op.source: op.target for op in path.operations if op.kind == "substitute"}
    return [match[u] for u in range(nodes)]


def connected(graph):
    return graph.num_nodes == 0 or nx.is_connected(nx.Graph(to_networkx(graph)))


def paths(rng, folder):
    """Paths that match nodes, in every order; their costs against scipy."""
    one, two = odd.graphs(rng, 2)
    cost, order = a_cost(rng), ["random", "bfs", "connected"][rng.integers(3)]
    path = edit_path(one, two, cost, order=order, seed=int(rng.integers(1 << 30)), num_classes=3)
    replayed(path, one, two)
    prices = node_prices(cost, one, two)
    near(path.distance, least(*prices), "distance")
    near(path.distance, node_cost(*prices, matched(path, one.num_nodes)), "cost of the operations")
    if path.order == "connected":
        agree(all(connected(g) for g in path), "a graph on the way is not connected")
    return "accepted"


def edge_paths(rng, folder):
    """Paths that match edges too: their cost is that of their operations, and not below the least of all."""
    one, two = odd.graphs(rng, 2, most=4)
    cost, (edges, told) = a_cost(rng), an_edge_cost(rng)
    prices = node_prices(cost, one, two)
    path = edit_path(one, two, cost, matching="edges", edge_cost=edges, seed=int(rng.integers(1 << 30)))
    replayed(path, one, two)
    match = matched(path, one.num_nodes)
    near(path.distance, node_cost(*prices, match) + edge_cost(one, two, match, **told), "cost of the match")
    spent = sum(op.cost + sum(e.cost for e in op.edges) for op in path.operations)
    near(path.distance, spent, "cost of the operations")
    truth = brute_force(one, two, *prices, **told)
    agree(path.distance >= truth - 1e-5 * max(1, truth), f"distance {path.distance}, the least is {truth}")
    agree(not path.exact or path.distance <= truth + 1e-5 * max(1, truth), "exact is not")
    near(cost.distance(one, two, matching="edges", edge_cost=edges), path.distance, "distance by edges")
    return "accepted"


SMILES = """C CCO CC(=O)O c1ccccc1 Cc1ccccc1O C[N+](C)(C)CC(=O)[O-] c1cc[nH]c1 O=[N+]([O-])c1ccccc1 C1CC1N
CC#N CS(=O)(=O)N FC(F)(F)C OP(=O)(O)O c1ccc2[nH]ccc2c1 CC(=O)[O-].[Na+] BrC=CCl O=C=O [H][H] N""".split()


@cache
def molecules():
    return [molecule(s) for s in SMILES]


def valid_paths(rng, folder):
    """Valid paths between molecules: what is called valid can be sanitised by RDKit from its SMILES alone."""
    from rdkit import Chem

    one, two = (molecules()[i] for i in rng.integers(len(SMILES), size=2))
    matching = ["nodes", "edges"][rng.integers(2)]
    path = edit_path(one, two, UnitCost(), matching=matching, order="valid", seed=int(rng.integers(1 << 30)))
    for end, graph in ((path[0], one), (path[len(path)], two)):
        agree(all(torch.equal(end[key], graph[key]) for key in ("x", "edge_index", "edge_attr")), "an end is another")
    for k, valid in enumerate(path.valid):
        again = Chem.MolFromSmiles(path.smiles(k)) if valid else None
        agree(valid == bool(path.smiles(k)), "a word for what is not valid")
        agree(not valid or again is not None, f"step {k} is not {path.smiles(k)}")
        agree(not valid or again.GetNumHeavyAtoms() <= path[k].num_nodes, f"atoms of step {k}")
    agree(path.valid[0] and path.valid[-1], "an end is not valid")
    return "accepted"


def counterfactuals(rng, folder):
    """Counterfactuals of models that count: the class is another one, and no operation can be spared."""
    graphs = odd.graphs(rng, int(rng.integers(3, 6)))
    key, most = ["nodes", "edges"][rng.integers(2)], float(rng.integers(1, 8)) + 0.5

    def model(batch):
        number = (
            batch.batch.bincount()
            if key == "nodes"
            else batch.batch[batch.edge_index[0]].bincount(minlength=batch.num_graphs)
        )
        return number - most

    def answer(slow):
        return int(len(slow.nodes if key == "nodes" else slow.edges) > most) if slow.nodes else -1

    matching = ["nodes", "edges"][rng.integers(2)]
    found = counterfactual(graphs[0], model, reference=graphs[1:], k=1, tries=2, matching=matching, seed=0)
    one, two = graphs[0], graphs[1:][found.reference]

    def after(operations):
        slow = Slow(one, two)
        for operation in operations:
            slow.apply(operation)
        return slow

    done = after(found.operations)
    agree(named(found.graph) == (done.nodes, done.edges), "the graph is not what the operations make")
    agree(answer(after([])) == found.before != found.after == answer(done), "classes")
    for k in range(found.step):
        fewer = after([op for i, op in enumerate(found.operations) if i != k])
        agree(answer(fewer) != found.after, f"operation {k} of {found.step} can be spared")
    return "accepted"


CASES = {f.__name__: f for f in (paths, edge_paths, valid_paths, counterfactuals)}
