"""One graph from the middle of many paths, in one compiled loop over the pairs.

The same graphs, to the last bit, as ``interpolate_pairs`` gets from whole arrays: there each of a hundred
small steps costs more to call than to do.
"""

from __future__ import annotations

import numpy as np

from epic._kernels.backend import INTEGERS, fast


@fast(f"void(float64[::1], float64, int64, {INTEGERS}, boolean[::1])")
def least(key: np.ndarray, low: float, wanted: int, bins: np.ndarray, out: np.ndarray) -> None:
    """Mark the ``wanted`` least of the keys, which lie between ``low`` and ``low + 1``; of equal ones the first.

    Random keys fall evenly into as many ``bins`` as there are keys: all but those of one bin are decided by counting.
    """
    count = key.size
    bins[:] = 0
    for k in range(count):
        bins[min(int((key[k] - low) * count), count - 1)] += 1
    border, left = 0, wanted
    while border < count and bins[border] <= left:
        left -= bins[border]
        border += 1
    for k in range(count):
        out[k] = min(int((key[k] - low) * count), count - 1) < border
    for _ in range(left):
        first = -1
        for k in range(count):
            here = not out[k] and min(int((key[k] - low) * count), count - 1) == border
            if here and (first < 0 or key[k] < key[first]):
                first = k
        out[first] = True


@fast(
    f"Tuple(({', '.join(4 * [INTEGERS])}, int64[:, ::1], float64[::1]))"
    f"({', '.join(4 * [INTEGERS])}, {', '.join(4 * ['float64[::1]'])}, int64[:, ::1], {', '.join(4 * [INTEGERS])})"
)
def walk(
    partner: np.ndarray,
    origin: np.ndarray,
    source_ptr: np.ndarray,
    target_ptr: np.ndarray,
    lost: np.ndarray,
    won: np.ndarray,
    key: np.ndarray,
    chance: np.ndarray,
    edge_index: np.ndarray,
    edge_ptr: np.ndarray,
    node_ptr: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For pairs ``i[p]``, ``j[p]`` of packed graphs: offsets of nodes and edges of the new graphs, the old node and the
    old edge that each new one is taken from, the ends of the edges, and the share of the cost done.

    ``partner`` to ``won`` are those of ``Assignment`` and ``OperationCosts``,
    ``key`` orders the operations and ``chance`` says how far each pair goes.
    """
    pairs = i.size
    ptr, edges, share = np.zeros(pairs + 1, np.int64), np.zeros(pairs + 1, np.int64), np.empty(pairs)
    # What becomes of a source node: 1, it stays; 2, it is deleted; 0, it is replaced. And whether a target node is in.
    fate, done_target = np.empty(partner.size, np.int8), np.zeros(origin.size, np.bool_)
    place_s, place_t = np.empty(partner.size, np.int64), np.empty(origin.size, np.int64)
    longest, most = 0, 1
    if not (source_ptr.size == target_ptr.size == pairs + 1 and j.size == chance.size == pairs):
        raise IndexError("there are not as many matches as pairs")
    if not (partner.size == lost.size == source_ptr[-1] and origin.size == won.size == target_ptr[-1]):
        raise IndexError("matches and prices are not of the same nodes")
    if edge_index.shape[0] != 2:
        raise IndexError("edges have not two ends")
    for p in range(pairs):
        if not (0 <= source_ptr[p] <= source_ptr[p + 1] and 0 <= target_ptr[p] <= target_ptr[p + 1]):
            raise IndexError("the offsets of matches are out of order")
        for g in (i[p], j[p]):
            if not 0 <= g < min(node_ptr.size, edge_ptr.size) - 1:
                raise IndexError("there is no graph of that number")
            if not 0 <= edge_ptr[g] <= edge_ptr[g + 1] <= edge_index.shape[1]:
                raise IndexError("the offsets of a graph are beyond the edges")
        longest = max(longest, source_ptr[p + 1] - source_ptr[p] + target_ptr[p + 1] - target_ptr[p])
        most += edge_ptr[i[p] + 1] - edge_ptr[i[p]] + edge_ptr[j[p] + 1] - edge_ptr[j[p]]
    kept = np.empty((3, most), np.int64)
    edge_from, start, end = kept[0], kept[1], kept[2]
    inserted, bins = np.empty(longest, np.int64), np.empty(longest, np.int64)
    done, keys = np.empty(longest, np.bool_), np.empty(longest)
    first, at = 0, 0
    for p in range(pairs):
        s0, s1, t0, t1 = source_ptr[p], source_ptr[p + 1], target_ptr[p], target_ptr[p + 1]
        nodes = s1 - s0
        count = nodes
        for t in range(t0, t1):
            if origin[t] < 0:
                inserted[count] = t
                count += 1
        for k in range(count):
            keys[k] = p + key[first + k]  # the sum, because it is rounded
        first += count
        steps = 1 + int(chance[p] * (count - 1)) if count > 1 else int(chance[p] * (count + 1))
        least(keys[:count], float(p), steps, bins[:count], done[:count])
        # A graph keeps its last node: one deletion is undone.
        alive, earliest = False, -1
        for k in range(count):
            if done[k]:
                alive = alive or k >= nodes or partner[s0 + k] >= 0
                earliest = k if earliest < 0 else earliest
            else:
                alive = alive or k < nodes
        if not alive and earliest >= 0:
            done[earliest] = False
        total, spent, finished = 0.0, 0.0, 0
        for k in range(count):
            price = lost[s0 + k] if k < nodes else won[inserted[k]]
            total += price
            if done[k]:
                spent += price
                finished += 1
        if finished == 0:
            share[p] = 0.0
        elif finished == count:
            share[p] = 1.0
        else:
            share[p] = min(max(spent / total if total > 0 else finished / count, 0.0), 1.0)
        # Nodes: of the source what stays, then of the target what is in.
        for k in range(nodes, count):
            done_target[inserted[k]] = done[k]
        place = ptr[p]
        for k in range(nodes):
            to = partner[s0 + k]
            if to >= 0 and not t0 <= to < t1:
                raise IndexError("a match names a node that is not there")
            fate[s0 + k] = (0 if to >= 0 else 2) if done[k] else 1
            if not done[k]:
                place_s[s0 + k] = place
                place += 1
            elif to >= 0:
                done_target[to] = True
        for t in range(t0, t1):
            if done_target[t]:
                place_t[t] = place
                place += 1
                if origin[t] >= 0:
                    if not s0 <= origin[t] < s1:
                        raise IndexError("a match names a node that is not there")
                    place_s[origin[t]] = place_t[t]
        ptr[p + 1] = place
        # An edge lives on if one end still stays and neither is deleted; it is there already if both its ends are.
        # Every edge is written and stepped over only if it counts: a branch would be guessed wrong half of the time.
        shift = s0 - node_ptr[i[p]]
        for e in range(edge_ptr[i[p]], edge_ptr[i[p] + 1]):
            u, v = edge_index[0, e] + shift, edge_index[1, e] + shift
            if not (s0 <= u < s1 and s0 <= v < s1):
                raise IndexError("an edge names a node that is not there")
            edge_from[at], start[at], end[at] = e, place_s[u], place_s[v]
            at += (fate[u] | fate[v]) == 1
        shift = t0 - node_ptr[j[p]]
        for e in range(edge_ptr[j[p]], edge_ptr[j[p] + 1]):
            u, v = edge_index[0, e] + shift, edge_index[1, e] + shift
            if not (t0 <= u < t1 and t0 <= v < t1):
                raise IndexError("an edge names a node that is not there")
            edge_from[at], start[at], end[at] = e, place_t[u], place_t[v]
            at += done_target[u] and done_target[v]
        edges[p + 1] = at

    node_at = np.empty(ptr[-1], np.int64)
    for p in range(pairs):
        for s in range(source_ptr[p], source_ptr[p + 1]):
            if fate[s] == 1:
                node_at[place_s[s]] = s - source_ptr[p] + node_ptr[i[p]]
        for t in range(target_ptr[p], target_ptr[p + 1]):
            if done_target[t]:
                node_at[place_t[t]] = t - target_ptr[p] + node_ptr[j[p]]
    ends = np.empty((2, at), np.int64)
    ends[0], ends[1] = start[:at], end[:at]
    return ptr, edges, node_at, edge_from[:at].copy(), ends, share
