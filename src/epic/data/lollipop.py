"""The paper's toy: a clique (the head) with a chain (the tail). The label is the size of the head."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from epic.errors import InputError
from epic.random import Seed, base_seed, derived, uniform

HEADS = (4, 5, 6, 7)
TAILS = (2, 10)


def lollipop(
    count: int, *, heads: tuple[int, ...] = HEADS, tails: tuple[int, int] = TAILS, seed: Seed = 0
) -> list[Data]:
    """Make random (m, n)-lollipop graphs: a clique of m nodes with a chain of n nodes.

    Args:
        count: How many graphs.
        heads: Sizes of heads, one class each. Classes come in turn.
        tails: Shortest and longest tail; lengths are uniformly distributed.
        seed: An int makes the result reproducible, a torch.Generator is drawn from once, None draws a fresh seed.

    Returns:
        Graphs without ``x``. ``y`` is the position of m in ``heads``, and ``head`` marks the nodes of the head.
    """
    if count < 1:
        raise InputError(f"count must be at least 1, got {count}")
    if not heads or min(heads) < 1 or not 0 <= tails[0] <= tails[1]:
        raise InputError(f"heads {heads} must be positive and tails {tails} a range from 0 up")
    chance = uniform(count, derived(base_seed(seed), "lollipop"))
    lengths = (tails[0] + (chance * (tails[1] - tails[0] + 1)).long()).tolist()
    return [lollipop_graph(heads[i % len(heads)], n, i % len(heads)) for i, n in enumerate(lengths)]


def lollipop_graph(m: int, n: int, label: int = 0) -> Data:
    """Make one (m, n)-lollipop: nodes 0..m-1 are the head, the tail hangs on node m-1.

    Args:
        m: Nodes of the head.
        n: Nodes of the tail.
        label: The class.

    Returns:
        A graph as :func:`lollipop` makes it.

    >>> lollipop_graph(3, 1).edge_index.tolist()
    [[0, 0, 1, 1, 2, 2, 2, 3], [1, 2, 0, 2, 0, 1, 3, 2]]
    """
    head = torch.combinations(torch.arange(m), 2) if m > 1 else torch.zeros(0, 2, dtype=torch.long)
    chain = torch.arange(m - 1, m + n)
    one_way = torch.cat([head, torch.stack([chain[:-1], chain[1:]], dim=1)]).T
    both = torch.cat([one_way, one_way.flip(0)], dim=1)
    both = both[:, torch.argsort(both[0] * (m + n) + both[1])]
    return Data(edge_index=both, num_nodes=m + n, y=torch.tensor([label]), head=torch.arange(m + n) < m)
