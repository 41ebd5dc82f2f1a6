"""Slow edit distances: every assignment tried, and the binary linear program of Justice and Hero."""

from itertools import permutations

import numpy as np
import torch
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import bmat, eye, kron

from epic.graphs.packed import matrix


def arcs(data):
    """What each direction between two nodes carries."""
    values = torch.zeros(data.edge_index.shape[1], 0) if data.edge_attr is None else matrix(data.edge_attr)
    found = {}
    for (a, b), value in zip(data.edge_index.T.tolist(), values.tolist(), strict=True):
        found.setdefault((a, b), tuple(value))
    return found


def edge_cost(one, other, match, *, price=(1.0, 1.0, 1.0), directed=False):
    """Insertion, deletion and substitution prices of all directions, half each where edges go both ways."""
    insertion, deletion, substitution = price
    mine, theirs = arcs(one), arcs(other)
    total, met = 0.0, set()
    for (a, b), value in mine.items():
        share = 1.0 if directed or a == b else 0.5
        to = (match[a], match[b])
        if -1 not in to and to in theirs:
            met.add(to)
            differ = substitution if theirs[to] != value else 0.0
            total += share * min(differ, insertion + deletion)
        else:
            total += share * deletion
    return total + sum((1.0 if directed or a == b else 0.5) * insertion for a, b in theirs if (a, b) not in met)


def matches(n, m):
    """Every assignment of n nodes to m nodes or none."""
    yield from permutations([*range(m), *[-1] * n], n)


def node_cost(substitution, deletion, insertion, match):
    """The cost of the node operations of an assignment."""
    kept = set(match) - {-1}
    total = sum(deletion[u] if v < 0 else substitution[u][v] for u, v in enumerate(match))
    return total + sum(p for v, p in enumerate(insertion) if v not in kept)


def brute_force(one, other, substitution, deletion, insertion, **edges):
    """The least cost over all assignments."""
    return min(
        node_cost(substitution, deletion, insertion, match) + edge_cost(one, other, match, **edges)
        for match in set(matches(one.num_nodes, other.num_nodes))
    )


def unit_prices(one, other):
    """Node prices of unit cost, from features."""
    a, b = one.x.tolist(), other.x.tolist()
    return [[float(p != q) for q in b] for p in a], [1.0] * len(a), [1.0] * len(b)


def justice_hero(one, other):
    """Unit cost by the binary linear program: a permutation of padded graphs, and the l1 norm of what edges differ."""
    n, m = one.num_nodes, other.num_nodes
    size = n + m
    substitution, deletion, insertion = unit_prices(one, other)
    cost = np.zeros((size, size))
    cost[:n, :m] = np.reshape(substitution, (n, m))
    cost[:n, m:], cost[n:, :m] = np.reshape(deletion, (n, 1)), np.reshape(insertion, (1, m))
    a, b = np.zeros((size, size)), np.zeros((size, size))
    a[tuple(one.edge_index.numpy())] = 1
    b[tuple(other.edge_index.numpy())] = 1
    one_each = eye(size)
    # Rows of vec(P), P row by row: A P - P B + S - T = 0, and rows and columns of P sum to 1.
    balance = bmat([[kron(a, one_each) - kron(one_each, b.T), eye(size**2), -eye(size**2)]])
    ones = np.ones((1, size))
    sums = bmat([[kron(one_each, ones)], [kron(ones, one_each)]])
    sums = bmat([[sums, np.zeros((2 * size, 2 * size**2))]])
    found = milp(
        np.concatenate([cost.ravel(), np.full(2 * size**2, 0.5)]),
        integrality=np.concatenate([np.ones(size**2), np.zeros(2 * size**2)]),
        bounds=Bounds(0, np.concatenate([np.ones(size**2), np.full(2 * size**2, np.inf)])),
        constraints=[LinearConstraint(balance.tocsr(), 0, 0), LinearConstraint(sums.tocsr(), 1, 1)],
    )
    assert found.success
    return found.fun
