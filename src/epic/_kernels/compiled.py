"""What is done to packed graphs at every training step, in one compiled run through memory."""

from __future__ import annotations

import numpy as np

from epic._kernels.backend import FIELD, INTEGERS, VALUES, fast

PAIRS = "int64[:, ::1]"


@fast(f"boolean({PAIRS}, {INTEGERS}, {INTEGERS})")
def edge_offsets(edge_index: np.ndarray, ptr: np.ndarray, edge_ptr: np.ndarray) -> bool:
    """Fill ``edge_ptr`` with the offsets of each graph's edges, where its nodes have the offsets ``ptr``.

    Gives False, and leaves nonsense, where an edge joins two graphs, names no node, or follows one of a later graph,
    and where ``ptr`` are no offsets.
    """
    if edge_index.shape[0] != 2 or ptr[0] != 0:
        return False
    for graph in range(ptr.size - 1):
        if ptr[graph + 1] < ptr[graph]:
            return False
    graph = 0
    edge_ptr[0] = 0
    for e in range(edge_index.shape[1]):
        start, end = edge_index[0, e], edge_index[1, e]
        while graph < ptr.size - 1 and start >= ptr[graph + 1]:
            graph += 1
            edge_ptr[graph] = e
        if graph == ptr.size - 1 or not (ptr[graph] <= start and ptr[graph] <= end < ptr[graph + 1]):
            return False
    edge_ptr[graph + 1 :] = edge_index.shape[1]
    return True


@fast(f"Tuple(({', '.join(4 * [INTEGERS])}, {PAIRS}))({', '.join(3 * [INTEGERS])}, {PAIRS})")
def gather(
    index: np.ndarray, ptr: np.ndarray, edge_ptr: np.ndarray, edge_index: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The graphs ``index`` laid end to end: offsets of their nodes and edges, which old node and which old edge each
    one is, and the ends of the edges.
    """
    count = index.size
    if edge_index.shape[0] != 2 or edge_ptr.size != ptr.size:
        raise IndexError("offsets of nodes and edges, or the two ends of edges, do not belong together")
    new_ptr, new_edge_ptr = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    for k in range(count):
        if not 0 <= index[k] < ptr.size - 1:
            raise IndexError("there is no graph of that number")
        first, last = edge_ptr[index[k]], edge_ptr[index[k] + 1]
        if ptr[index[k] + 1] < ptr[index[k]] or not 0 <= first <= last <= edge_index.shape[1]:
            raise IndexError("the offsets of a graph are out of order or beyond the edges")
        new_ptr[k + 1] = new_ptr[k] + ptr[index[k] + 1] - ptr[index[k]]
        new_edge_ptr[k + 1] = new_edge_ptr[k] + edge_ptr[index[k] + 1] - edge_ptr[index[k]]
    nodes_at, edges_at = np.empty(new_ptr[-1], np.int64), np.empty(new_edge_ptr[-1], np.int64)
    ends = np.empty((2, new_edge_ptr[-1]), np.int64)
    for k in range(count):
        first, begin, shift = ptr[index[k]], new_ptr[k], new_ptr[k] - ptr[index[k]]
        for n in range(new_ptr[k + 1] - begin):
            nodes_at[begin + n] = first + n
        first, begin = edge_ptr[index[k]], new_edge_ptr[k]
        for n in range(new_edge_ptr[k + 1] - begin):
            edges_at[begin + n] = first + n
            ends[0, begin + n] = edge_index[0, first + n] + shift
            ends[1, begin + n] = edge_index[1, first + n] + shift
    return new_ptr, new_edge_ptr, nodes_at, edges_at, ends


@fast(f"Tuple(({INTEGERS}, {INTEGERS}, {PAIRS}))({', '.join(2 * [f'{INTEGERS}, {INTEGERS}, {PAIRS}'])})")
def append(
    ptr: np.ndarray,
    edge_ptr: np.ndarray,
    edge_index: np.ndarray,
    more_ptr: np.ndarray,
    more_edge_ptr: np.ndarray,
    more_edges: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets of nodes and edges, and the ends of edges, of graphs and of more behind them."""
    if edge_index.shape[0] != 2 or more_edges.shape[0] != 2 or not ptr.size or not edge_ptr.size:
        raise IndexError("edges have not two ends, or there are no offsets")
    graphs, edges, nodes = ptr.size, edge_index.shape[1], ptr[-1]
    all_ptr = np.empty(graphs + more_ptr.size - 1, np.int64)
    all_edge_ptr = np.empty(edge_ptr.size + more_edge_ptr.size - 1, np.int64)
    ends = np.empty((2, edges + more_edges.shape[1]), np.int64)
    # Loops: numba takes seconds to compile sums of arrays.
    for k in range(all_ptr.size):
        all_ptr[k] = ptr[k] if k < graphs else more_ptr[k - graphs + 1] + nodes
    for k in range(all_edge_ptr.size):
        all_edge_ptr[k] = edge_ptr[k] if k < edge_ptr.size else more_edge_ptr[k - edge_ptr.size + 1] + edges
    for end in range(2):
        for e in range(edges):
            ends[end, e] = edge_index[end, e]
        for e in range(more_edges.shape[1]):
            ends[end, edges + e] = more_edges[end, e] + nodes
    return all_ptr, all_edge_ptr, ends


@fast(f"boolean({INTEGERS}, float32[:, ::1])")
def one_hot(index: np.ndarray, out: np.ndarray) -> bool:
    """Put a 1 where ``index`` says into each row of zeros; False where there is no such column."""
    if index.size != out.shape[0]:
        return False
    for row in range(index.size):
        if not 0 <= index[row] < out.shape[1]:
            return False
        out[row, index[row]] = 1
    return True


@fast(f"{FIELD}({FIELD}, {FIELD}, {VALUES})")
def mixed(source: np.ndarray, target: np.ndarray, share: np.ndarray) -> np.ndarray:
    """:func:`epic.labels.mix`."""
    if not (source.shape == target.shape and share.size == source.shape[0]):
        raise IndexError("labels and shares do not belong together")
    out, one = np.empty_like(source), source.dtype.type(1)
    for row in range(out.shape[0]):
        w = share[row]
        for column in range(out.shape[1]):
            if w == 0:
                out[row, column] = source[row, column]
            elif w == 1:
                out[row, column] = target[row, column]
            else:
                out[row, column] = (one - w) * source[row, column] + w * target[row, column]
    return out


@fast(f"int64({INTEGERS}, {INTEGERS}, {INTEGERS})")
def sort_groups(index: np.ndarray, ptr: np.ndarray, order: np.ndarray) -> int:
    """Fill ``ptr`` with the offsets of the groups that ``index`` puts elements in, and ``order`` with what sorts them.

    Gives 1 where they are sorted already, and leaves ``order`` as it is; -1 where there is no such group.
    """
    groups, sorted_already = ptr.size - 1, True
    ptr[:] = 0
    before = 0
    for e in range(index.size):
        group = index[e]
        if not 0 <= group < groups:
            return -1
        sorted_already = sorted_already and group >= before
        before = group
        ptr[group + 1] += 1
    for g in range(groups):
        ptr[g + 1] += ptr[g]
    if sorted_already:
        return 1
    place = ptr.copy()
    for e in range(index.size):
        order[place[index[e]]] = e
        place[index[e]] += 1
    return 0


@fast(f"void({FIELD}, int64, float64, {INTEGERS}, {INTEGERS}, {FIELD})")
def gin_sums(h: np.ndarray, column: int, eps: float, sender: np.ndarray, ptr: np.ndarray, out: np.ndarray) -> None:
    """``(1 + eps) * h[v]`` and the sum of ``h`` over what sends to v, ``sender[ptr[v] : ptr[v + 1]]``, for every v;
    vectors begin at ``column`` and are as wide as ``out``.
    """
    count, width = out.shape
    if not (h.shape[0] == count and 0 <= column <= h.shape[1] - width and ptr.size == count + 1):
        raise IndexError("offsets and vectors do not belong together")
    own = h.dtype.type(1) + h.dtype.type(eps)
    for v in range(count):
        here, total = h[v, column : column + width], out[v]
        total[:] = 0
        for e in range(ptr[v], ptr[v + 1]):
            if not 0 <= sender[e] < count:
                raise IndexError("an edge names a node that is not there")
            other = h[sender[e], column : column + width]
            for d in range(width):
                total[d] += other[d]
        for d in range(width):
            total[d] = own * here[d] + total[d]


@fast(f"void({FIELD}, int64, float64, {FIELD}, {', '.join(3 * [INTEGERS])}, {FIELD})")
def gin_messages(
    h: np.ndarray,
    column: int,
    eps: float,
    edge: np.ndarray,
    sender: np.ndarray,
    order: np.ndarray,
    ptr: np.ndarray,
    out: np.ndarray,
) -> None:
    """The same with vectors of edges, which are added to what is sent, behind a ReLU; ``order`` sorts the edges by
    where they end.
    """
    count, width = out.shape
    if not (h.shape[0] == count and 0 <= column <= h.shape[1] - width and ptr.size == count + 1):
        raise IndexError("offsets and vectors do not belong together")
    if not (sender.size == order.size == edge.shape[0] and edge.shape[1] == width):
        raise IndexError("edges and their vectors do not belong together")
    zero, own = h.dtype.type(0), h.dtype.type(1) + h.dtype.type(eps)
    for v in range(count):
        here, total = h[v, column : column + width], out[v]
        total[:] = 0
        for place in range(ptr[v], ptr[v + 1]):
            e = order[place]
            if not 0 <= sender[e] < count:
                raise IndexError("an edge names a node that is not there")
            other, along = h[sender[e], column : column + width], edge[e]
            for d in range(width):
                message = other[d] + along[d]
                total[d] += zero if message < zero else message  # NaN stays
        for d in range(width):
            total[d] = own * here[d] + total[d]


@fast(f"void({FIELD}, {', '.join(4 * [VALUES])}, float64, {FIELD}, int64)", fastmath={"contract"})
def normalise(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    eps: float,
    out: np.ndarray,
    column: int,
) -> None:
    """BatchNorm with given moments and a ReLU, into ``out`` from ``column`` on. The steps are torch's, products rounded
    together with the sums they go into: the same to the last bit.
    """
    count, width = x.shape
    if not weight.size == bias.size == mean.size == variance.size == width:
        raise IndexError("the moments are not as wide as the vectors")
    if not (out.shape[0] == count and 0 <= column <= out.shape[1] - width):
        raise IndexError("there is no such place to write to")
    zero, one = x.dtype.type(0), x.dtype.type(1)
    scale, shift = np.empty_like(weight), np.empty_like(weight)
    for d in range(width):
        scale[d] = one / np.sqrt(variance[d] + x.dtype.type(eps)) * weight[d]
        shift[d] = bias[d] - mean[d] * scale[d]
    for n in range(count):
        line, to = x[n], out[n, column : column + width]
        for d in range(width):
            value = line[d] * scale[d] + shift[d]
            to[d] = zero if value < zero else value  # NaN stays
