"""Orders that keep every graph of a path connected.

Whether one exists is a search over subsets of operations. Each pair is searched depth first, trying random next
operations, remembering dead ends, and giving up after a number of looks. Sets of nodes are the bits of an integer, so
that a look at one graph takes microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic.graphs.packed import PackedGraphs

if TYPE_CHECKING:
    from epic.paths.operations import Operations

LOOKS = 16_000
STARTS = 16


class _Pair:
    """Operations as bits: bit t is operation t.

    Neighbours in the source and in the target are masks over operations.
    """

    def __init__(
        self, kinds: list[str], source_edges: list[tuple[int, int]], target_edges: list[tuple[int, int]]
    ) -> None:
        self.count = len(kinds)
        self.everything = (1 << self.count) - 1
        self.deletions = sum(1 << t for t, k in enumerate(kinds) if k == "delete")
        self.insertions = sum(1 << t for t, k in enumerate(kinds) if k == "insert")
        self.near_source = _neighbours(self.count, source_edges)
        self.near_target = _neighbours(self.count, target_edges)

    def connected(self, done: int) -> bool:
        """Return whether the graph with the operations ``done`` is connected (an empty one is not)."""
        alive = self.everything & ~(self.deletions & done) & ~(self.insertions & ~done)
        if not alive:
            return False
        waiting, seen = alive & -alive, 0
        while waiting:
            bit = waiting & -waiting
            seen |= bit
            t = bit.bit_length() - 1
            near = (self.near_source[t] & ~done) | (self.near_target[t] & done) if bit & done else self.near_source[t]
            waiting = (waiting | near & alive) & ~seen
        return seen == alive

    def find(self, preference: list[int]) -> tuple[list[int] | None, bool]:
        """Search from several first choices: a dead end deep down would otherwise use up all looks."""
        for start in range(STARTS):
            first = start * self.count // STARTS
            order, complete = self.search(preference[first:] + preference[:first], LOOKS // STARTS)
            if complete:
                return order, True
        return None, False

    def search(self, preference: list[int], looks: int) -> tuple[list[int] | None, bool]:
        """Return an order or None, and whether the search was complete."""
        dead: set[int] = set()
        chosen: list[int] = []
        trail = [(0, iter(preference))]
        while trail:
            done, candidates = trail[-1]
            if done == self.everything:
                return chosen, True
            for t in candidates:
                after = done | 1 << t
                if after == done or after in dead:
                    continue
                if after != self.everything:
                    looks -= 1
                    if looks < 0:
                        return None, False
                    if not self.connected(after):
                        dead.add(after)
                        continue
                chosen.append(t)
                trail.append((after, iter(preference)))
                break
            else:
                dead.add(done)
                trail.pop()
                if chosen:
                    chosen.pop()
        return None, True


def _neighbours(count: int, edges: list[tuple[int, int]]) -> list[int]:
    near = [0] * count
    for a, b in edges:
        near[a] |= 1 << b
        near[b] |= 1 << a
    return near


def connected_ranks(
    ops: Operations, source: PackedGraphs, target: PackedGraphs, fallback: np.ndarray
) -> tuple[np.ndarray, list[str | None]]:
    """Return the positions of operations in connected orders; ``fallback`` where there is none, with the reason."""
    rank = fallback.copy()
    reasons: list[str | None] = []
    own = np.arange(len(ops)) - ops.ptr[:-1][ops.pair]
    at_s, at_t = ops.source >= 0, ops.target >= 0
    slot_s, slot_t = np.empty(source.num_nodes, dtype=np.int64), np.empty(target.num_nodes, dtype=np.int64)
    slot_s[ops.source[at_s]], slot_t[ops.target[at_t]] = own[at_s], own[at_t]
    edges_s, edges_t = slot_s[source.edge_index.numpy()], slot_t[target.edge_index.numpy()]
    kinds = np.where(at_s & at_t, "substitute", np.where(at_s, "delete", "insert"))
    for p in range(len(source)):
        o = slice(int(ops.ptr[p]), int(ops.ptr[p + 1]))
        near_s = edges_s[:, int(source.edge_ptr[p]) : int(source.edge_ptr[p + 1])].T.tolist()
        near_t = edges_t[:, int(target.edge_ptr[p]) : int(target.edge_ptr[p + 1])].T.tolist()
        pair = _Pair(kinds[o].tolist(), near_s, near_t)
        whole = {"source": int(source.sizes[p]) == 0 or pair.connected(0)}
        whole["target"] = int(target.sizes[p]) == 0 or pair.connected(pair.everything)
        broken = [end for end, fine in whole.items() if not fine]
        if broken:
            reasons.append(f"the {' and the '.join(broken)} graph {'is' if len(broken) == 1 else 'are'} not connected")
            continue
        order, complete = pair.find(np.argsort(fallback[o]).tolist())
        if order is None:
            reasons.append("no such order exists" if complete else f"none was found in {LOOKS:,} looks")
            continue
        reasons.append(None)
        rank[o][order] = np.arange(len(order))
    return rank, reasons
