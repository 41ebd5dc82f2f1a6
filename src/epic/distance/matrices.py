"""The matrix of exact edit distances between two lists of graphs."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from epic.distance.blocks import cost_blocks, graph_chunks, local_ptr
from epic.distance.pairs import CELLS, reduced_costs
from epic.graphs.ragged import ranges
from epic.matching.exact import assign_blocks
from epic.matching.types import NodeCosts, Pricing


def distance_matrix(cost: Pricing, a: NodeCosts, b: NodeCosts, *, mirror: bool, progress: bool) -> Tensor:
    """Compute all exact distances.

    Args:
        cost: what edits cost.
        a: node costs of the source graphs.
        b: node costs of the target graphs.
        mirror: a and b are the same graphs at symmetric costs: compute one half and mirror it.
        progress: show a progress bar.

    Returns:
        Distances ``[A, B]``.
    """
    na, nb = a.ptr.numel() - 1, b.ptr.numel() - 1
    out = np.zeros((na, nb))
    reduced = reduced_costs(cost, a, b)
    with tqdm(total=na, desc="distances", unit="graph", disable=not progress, delay=1.0) as bar:
        for i0, i1 in graph_chunks(a.ptr, CELLS // 1024):
            for j0, j1, field, total in cost_blocks(reduced, a, b, i0, i1, first=i0 if mirror else 0):
                wanted = np.arange(i0, i1)[:, None] <= np.arange(j0, j1) if mirror else np.ones(total.shape, dtype=bool)
                i, j = np.nonzero(wanted)
                total[i, j] += _saved(
                    field, *_blocks(local_ptr(a.ptr, i0, i1), i), *_blocks(local_ptr(b.ptr, j0, j1), j)
                )
                out[i0:i1, j0:j1] = total
            bar.update(i1 - i0)
    if mirror:
        out = np.triu(out, 1)
        out = out + out.T
    return torch.from_numpy(np.maximum(out, 0.0)).to(torch.get_default_dtype())


def _blocks(ptr: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where lists begin and how long they are."""
    return ptr[which], ptr[which + 1] - ptr[which]


def _saved(field: np.ndarray, top: np.ndarray, rows: np.ndarray, left: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return what the best substitutions add to the cost of each block (0 or less)."""
    partner = assign_blocks(field, top, left, rows, columns)
    pair = np.repeat(np.arange(top.size), rows)
    kept = partner >= 0
    value = field[ranges(top, rows)[kept], (left[pair] + partner)[kept]]
    return np.bincount(pair[kept], value, top.size)
