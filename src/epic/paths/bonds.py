"""Pairs of molecules: the bonds that operations meet, and which orders of operations keep to valences.

Aromatic bonds are single and double ones here, so that a ring that is half replaced has a meaning. Where the double
bonds of the target can lie in several ways, they lie as in the source.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from epic._kernels import backend
from epic.data.chemistry import Chemistry, chemistry_of, molecule_of, most_bonds
from epic.data.tables import rdkit
from epic.graphs.packed import PackedGraphs, join, matrix
from epic.graphs.ragged import offsets

if TYPE_CHECKING:
    from epic.paths.operations import Operations

ORDER, AROMATIC = "bond_order", "bond_aromatic"
"""Edge attributes of pairs with bonds. Graphs on the way inherit them; :mod:`epic.paths.molecules` takes them away."""


@dataclass(frozen=True)
class Bonds:
    """The bonds of pairs of molecules, by operations.

    Attributes:
        chemistry: What labels stand for, None for OGB's features.
        arrays: Offsets of the bonds of each operation; the operation at their other end; their order in the source and
            in the target, 0 for none; the kind of each operation; the most bonds of its target atom. See
            :mod:`epic._kernels.orders`.
        aromatic: Which bonds are aromatic in the target.
        faults: For each pair why one of its ends is no valid molecule; None if both are.
    """

    chemistry: Chemistry | None
    arrays: tuple[np.ndarray, ...]
    aromatic: np.ndarray
    faults: tuple[str | None, ...]

    @cached_property
    def whole(self) -> np.ndarray:
        """Whether both ends of each pair are valid molecules."""
        return np.array([why is None for why in self.faults], dtype=bool)

    def search(self, ptr: np.ndarray, order: np.ndarray, *, tries: int, seed: int = 0) -> tuple[np.ndarray, ...]:
        """Improve orders of operations: more graphs on the way are valid and connected, and no fewer are valid.

        Args:
            ptr: Offsets of the operations of each pair.
            order: The operations of each pair in their order, counted within the pair.
            tries: How many orders to try; with none, orders stay as they are.
            seed: What the search draws from.

        Returns:
            The orders; whether the graph after each operation is a valid molecule, and whether it is connected.
        """
        from epic._kernels import orders

        found, state = order.copy(), np.empty(order.size, np.int64)
        run = orders.search_all if backend.enabled() else orders.PLAIN["search_all"]
        run(ptr, self.arrays, self.aromatic, tries, seed, found, state)
        return found, state & orders.VALID > 0, state & orders.CONNECTED > 0


def with_bonds(ops: Operations) -> Operations:
    """Return operations that know the bonds of their molecules.

    Their graphs are the two ends of each pair, with the edge attributes ``ORDER`` and ``AROMATIC``.

    Raises:
        InputError: The graphs are not known to be molecules, or RDKit is missing.
    """
    from epic._kernels import orders

    rdkit()
    alternate = orders.alternate_all if backend.enabled() else orders.PLAIN["alternate_all"]
    graphs, i, j, m = ops.graphs.to("cpu"), ops.i.cpu(), ops.j.cpu(), ops.assignment
    chemistry, pairs = chemistry_of(graphs), i.numel()
    graphs, faults = _kekulised(graphs, torch.cat([i, j]).unique().tolist(), chemistry)
    told = tuple(
        " and ".join(f"the {end} {faults[g]}" for end, g in (("source", a), ("target", b)) if g in faults) or None
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    )
    ends = join([graphs.select(i), graphs.select(j)])
    numbers = np.arange(m.source.size + m.target.size)
    m = replace(m, source=numbers[: m.source.size], target=numbers[m.source.size :])
    ops = replace(ops, graphs=ends, i=torch.arange(pairs), j=pairs + torch.arange(pairs), assignment=m)

    place = np.empty(numbers.size, np.int64)
    for nodes, side in ((m.source, ops.source), (m.target, ops.target)):
        at = side >= 0
        place[nodes[side[at]]] = np.flatnonzero(at)
    kind = np.where(ops.target < 0, 1, np.where(ops.source < 0, 2, 0))
    room, at = np.zeros(len(ops), np.int64), ops.target >= 0
    room[at] = _room(ends, chemistry)[m.target[ops.target[at]]]

    # All bonds from both ends, those of source and target between the same two places together.
    (u, v), value = ends.edge_index.numpy(), ends.edge[ORDER].numpy()
    theirs, kept = u >= m.source.size, u != v
    name = place[u] * len(ops) + place[v]
    names = np.unique(np.concatenate([name[kept], (place[v] * len(ops) + place[u])[kept]]))
    old, new = np.zeros(names.size, np.int64), np.zeros(names.size, np.int64)
    aromatic, slot = np.zeros(names.size, bool), np.searchsorted(names, name)
    back = np.searchsorted(names, place[v] * len(ops) + place[u])
    for side, values in ((~theirs & kept, old), (theirs & kept, new)):
        values[slot[side]] = values[back[side]] = value[side]
    marked = theirs & kept & ends.edge[AROMATIC].numpy()
    aromatic[slot[marked]] = aromatic[back[marked]] = True
    first = offsets(np.bincount(names // max(len(ops), 1), minlength=len(ops)))
    bonds = Bonds(chemistry, (first, names % max(len(ops), 1), old, new, kind, room), aromatic, told)
    alternate(ops.ptr, bonds.arrays, aromatic)
    value = value.copy()
    value[theirs & kept] = new[slot[theirs & kept]]
    return replace(ops, graphs=replace(ends, edge={**ends.edge, ORDER: torch.from_numpy(value)}), bonds=bonds)


def _kekulised(
    graphs: PackedGraphs, used: list[int], chemistry: Chemistry | None
) -> tuple[PackedGraphs, dict[int, str]]:
    """Return graphs whose edges know the order of their bonds and whether they are aromatic, and which have faults.

    Bonds of graphs with faults, and of those that are not used, have order 1.
    """
    chem, faults = rdkit(), {}
    order, aromatic = np.ones(graphs.edge_index.shape[1], np.int64), np.zeros(graphs.edge_index.shape[1], bool)
    for g in used:
        data = graphs.graph(g)
        mol = molecule_of(data, chemistry)
        (u, v), at = data.edge_index.numpy(), slice(int(graphs.edge_ptr[g]), int(graphs.edge_ptr[g + 1]))
        if mol is None or (u == v).any() or chem.SanitizeMol(mol, catchErrors=True):
            faults[g] = "is no valid molecule"
            continue
        aromatic[at] = chem.GetAdjacencyMatrix(mol, useBO=True)[u, v] == 1.5
        chem.Kekulize(mol, clearAromaticFlags=True)
        order[at] = chem.GetAdjacencyMatrix(mol, useBO=True, force=True)[u, v]
    edge = {**graphs.edge, ORDER: torch.from_numpy(order), AROMATIC: torch.from_numpy(aromatic)}
    return replace(graphs, edge=edge), faults


def _room(graphs: PackedGraphs, chemistry: Chemistry | None) -> np.ndarray:
    """Return the most bonds that each atom can have."""
    assert graphs.x is not None
    if chemistry is None:
        kinds, at = np.unique(graphs.x[:, [0, 3]].numpy(), axis=0, return_inverse=True)
        most = [most_bonds((z + 1) % 119, charge - 5) for z, charge in kinds.tolist()]
        return np.array(most, np.int64)[at.reshape(-1)]
    # Charges follow from bonds in sets of plain labels.
    most = [max(most_bonds(s), most_bonds(s, 1) if s in ("N", "P", "O") else 0) for s in chemistry.atoms]
    return np.array(most, np.int64)[matrix(graphs.x).argmax(1).numpy()]
