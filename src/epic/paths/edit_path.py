"""One edit path: its operations, and every graph on the way."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from epic._io import PICTURES, write_figure, write_text
from epic.costs.base import Cost, check_cost
from epic.costs.edge import EdgeCost
from epic.costs.unit import UnitCost
from epic.data.chemistry import Chemistry, chemistry_of, molecule_of
from epic.data.tables import rdkit
from epic.distance.edges import PricedGraphs, choose_matching
from epic.distance.pairs import Pairs, large_pairs, node_edits
from epic.errors import InputError, choose
from epic.graphs.checks import check_same_features
from epic.graphs.convert import pack_one
from epic.graphs.packed import PackedGraphs, join, matrix
from epic.labels import count_classes, mix, soft_labels
from epic.paths.apply import Intermediate, apply_operations
from epic.paths.bonds import with_bonds
from epic.paths.molecules import as_molecules, without_bonds
from epic.paths.operation import Operation, operations_of
from epic.paths.operations import ORDERS, Operations, draw_order
from epic.random import Seed, base_seed, derived
from epic.view import Names, notebook, path_page, strip

if TYPE_CHECKING:
    from rdkit.Chem import Mol


SAVED_AS = (".html", *PICTURES)


class EditPath:
    """The way from one graph to another, one node operation a step.

    ``len(path)`` counts operations; ``path[k]`` is the graph after k of them, for k from 0 (the source) to
    ``len(path)`` (the target). Iterating yields all of these graphs. ``path.exact`` tells whether it is known that none
    is cheaper. Make one with :func:`epic.edit_path` or ``EPIC.path``.

    Args:
        ops: The operations with their prices.
        rank: Position of each operation on the path.
        order: Name of the order.
        num_classes: Number of classes, for soft labels.
        finish: Applied to every graph on the way.
        exact: Whether it is known that no path is cheaper.
    """

    def __init__(
        self,
        ops: Operations,
        *,
        rank: np.ndarray,
        order: str,
        num_classes: int | None,
        finish: Callable[[PackedGraphs], PackedGraphs] | None = None,
        exact: bool = True,
    ) -> None:
        self._ops, self._rank, self._finish, self.order, self.exact = ops, rank, finish, order, exact
        self.operations: tuple[Operation, ...] = operations_of(ops, rank)
        self._molecules: dict[int, tuple[Mol, bool]] = {}
        self._labels: Tensor | None = None
        if ops.graphs.y is not None:
            self._labels = soft_labels(ops.graphs.y, num_classes or count_classes(ops.graphs.y))

    def __len__(self) -> int:
        return len(self.operations)

    def __repr__(self) -> str:
        kinds = [op.kind for op in self.operations]
        parts = ", ".join(f"{kinds.count(k)} {k}" for k in ("substitute", "delete", "insert"))
        before, after = self._ops.graphs.sizes.tolist()
        ends = f"{' -> '.join(self.ends)}: " if any(self.ends) else ""
        return (
            f"EditPath({ends}{before} -> {after} nodes, {len(self)} operations: {parts}; "
            f"distance {self.distance:.3f}, order {self.order})"
        )

    @property
    def source(self) -> Data:
        """The graph that the path starts from."""
        return self._end(0)

    @property
    def target(self) -> Data:
        """The graph that the path ends at."""
        return self._end(1)

    def _end(self, which: int) -> Data:
        """Return an end with attributes of the whole graph, such as its name."""
        graph = self[which * len(self)]
        for key, value in self._ops.graphs.per_graph.items():
            graph[key] = value[which]
        return graph

    @property
    def ends(self) -> tuple[str, str]:
        """What source and target are called, as far as it is known: ``urea (row 7)``."""
        known = self._ops.graphs.per_graph
        named = "row" in known or "name" in known
        return (self._ops.graphs.title(0), self._ops.graphs.title(1)) if named else ("", "")

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes by number; empty if they have none."""
        return self._ops.graphs.class_names

    @property
    def matching(self) -> str:
        """What was matched: ``nodes`` or ``edges``."""
        return "nodes" if self._ops.edges is None else "edges"

    @property
    def distance(self) -> float:
        """The edit distance: the sum of the costs of all operations, and with ``matching="edges"`` of their edges."""
        edges = self._ops.edges
        return float(self._ops.price.sum()) + (0.0 if edges is None else float(edges.price.sum()))

    def fraction(self, k: int) -> float:
        """Return the share of the cost spent after k operations (of the operations, where all are free)."""
        return float(self._ops.fraction(self._rank < self._step(k))[0])

    def label(self, k: int) -> Tensor:
        """Return the soft label ``[C]`` of the graph after k operations (paper, eq. 1)."""
        if self._labels is None:
            raise InputError("the two graphs have no labels y, so the path has none")
        share = torch.tensor([self.fraction(k)], dtype=torch.double)
        return mix(self._labels[:1], target=self._labels[1:], share=share)[0]

    def __getitem__(self, k: int) -> Data:
        k = self._step(k)
        graphs, at = self.after(self._rank < k)
        graph = graphs.graph(0)
        graph.source_node, graph.target_node = (torch.from_numpy(t) for t in (at.source_node, at.target_node))
        if self._labels is not None:
            graph.y = self.label(k)[None]
        return graph

    def after(self, done: np.ndarray) -> tuple[PackedGraphs, Intermediate]:
        """Return the graph after any set of operations, as :meth:`__getitem__` gives it, and where its nodes come from.

        Args:
            done: Which operations are done, in the order of the pair and not of the path.
        """
        at = apply_operations(self._ops, done)
        graphs = at.graphs
        if self._ops.bonds is not None:  # both ends stay as they are
            inside = done.any() and not done.all()
            graphs = as_molecules(graphs, self._ops.bonds) if inside else without_bonds(graphs)
        return (graphs if self._finish is None else self._finish(graphs)), at

    @cached_property
    def _chemistry(self) -> Chemistry | None:
        return chemistry_of(self._ops.graphs)

    def _read(self, k: int) -> tuple[Mol, bool]:
        """Return the molecule of a step, and whether it is valid: then it is sanitised."""
        k = self._step(k)
        if k not in self._molecules:
            chem, mol = rdkit(), molecule_of(self[k], self._chemistry)
            if mol is None:
                raise InputError(f"the labels of step {k} stand for no atoms")
            clean = chem.Mol(mol)
            good = not chem.SanitizeMol(clean, catchErrors=True)
            self._molecules[k] = (clean if good else mol, good)
        return self._molecules[k]

    def molecule(self, k: int) -> Mol:
        """Return the graph after k operations as an RDKit molecule, its atoms in the order of the nodes.

        It is sanitised where it is valid. Stereochemistry is left out.

        Raises:
            InputError: The graphs are not known to be molecules, or RDKit is missing.
        """
        return rdkit().Mol(self._read(k)[0])

    @property
    def valid(self) -> tuple[bool, ...]:
        """Whether each of the ``len(path) + 1`` graphs is a molecule that RDKit can sanitise.

        Operations between two valid graphs that are not neighbours have to be done together.
        """
        return tuple(self._read(k)[1] for k in range(len(self) + 1))

    def smiles(self, k: int) -> str:
        """Return the canonical SMILES of the graph after k operations, without stereo; empty if it is not valid."""
        mol, valid = self._read(k)
        return rdkit().MolToSmiles(mol) if valid else ""

    def __iter__(self) -> Iterator[Data]:
        return (self[k] for k in range(len(self) + 1))

    def _step(self, k: int) -> int:
        count = len(self)
        if isinstance(k, bool) or not isinstance(k, Integral):
            raise InputError(f"a step of a path is a whole number from 0 to {count}, got {k!r}")
        if not -count - 1 <= k <= count:
            raise IndexError(
                f"step {k} of a path with {count} operations: steps run from 0 (source) to {count} (target)"
            )
        return k if k >= 0 else k + count + 1

    def plot(self, steps: int = 6, *, path: str | Path | None = None, names: Names | str | None = None) -> Any:
        """Draw some graphs of the path side by side.

        Args:
            steps: How many graphs to draw, at least 2.
            path: Where to save the figure: .png, .svg or .pdf.
            names: As in :meth:`save`.

        Returns:
            The matplotlib ``Figure``.
        """
        figure = strip(self, steps=steps, names=names)
        if path is not None:
            write_figure(path, figure, dpi=150, bbox_inches="tight")
        return figure

    def save(
        self,
        path: str | Path,
        *,
        title: str = "",
        names: Names | str | None = None,
        ends: tuple[str, str] | None = None,
        others: Sequence[EditPath] = (),
        steps: int = 6,
    ) -> None:
        """Write the path as a page with a slider, or as a picture. The page needs no network.

        Args:
            path: Where to write it: .html for the page; .png, .svg or .pdf for the picture.
            title: Title of the page.
            names: What labels are called: an :class:`epic.view.Names`, or the name of a dataset whose labels are known
                such as ``"Mutagenicity"``.
            ends: Names of the source and of the target, for the page (default: those of the graphs).
            others: Up to two other paths between the same graphs that the page can switch to.
            steps: How many graphs to draw in the picture.
        """
        path = Path(path)
        if path.suffix.lower() not in SAVED_AS:
            raise InputError(f"cannot save a path as {path}: the name must end in {', '.join(SAVED_AS)}")
        if not path.parent.is_dir():
            raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")
        if path.suffix.lower() == ".html":
            write_text(path, path_page(self, title=title, names=names, ends=ends, others=others))
        else:
            self.plot(steps, path=path, names=names)

    def _repr_html_(self) -> str:
        return notebook(self)


@torch.no_grad()
def edit_path(
    source: Data,
    target: Data,
    cost: Cost | None = None,
    *,
    matching: str = "nodes",
    edge_cost: EdgeCost | float | None = None,
    exact: bool = False,
    order: str = "random",
    seed: Seed = 0,
    num_classes: int | None = None,
    finish: Callable[[PackedGraphs], PackedGraphs] | None = None,
) -> EditPath:
    """Find a cheap edit path between two graphs.

    Args:
        source: the graph to start from.
        target: the graph to end at.
        cost: what edits cost (default: :class:`epic.UnitCost`).
        matching: ``nodes``: the cheapest node operations, which is what the paper does. ``edges``: node and edge
            operations together cost little, so that structure is kept.
        edge_cost: what edge operations cost with ``matching="edges"``, or one price for all of them (default:
            :class:`epic.EdgeCost`, scaled to the node costs).
        exact: match the nodes of large graphs exactly, too; see :meth:`epic.Cost.distance`.
        order: ``random``, ``bfs`` (along the target), ``connected`` (every graph on the way connected; where no such
            order is found, a warning says so and the order is random) or ``valid`` (for molecules: as many graphs on
            the way as possible are valid molecules and connected; see :attr:`EditPath.valid`). With ``valid``, graphs
            on the way have the features of the molecules that they are.
        seed: an int makes the order reproducible, a ``torch.Generator`` is drawn from once, None draws a fresh seed.
        num_classes: number of classes; needed for soft labels only if neither graph is of the last class.
        finish: applied to every graph on the way, for instance to compute degree features again.

    Returns:
        The path.

    Raises:
        InputError: the graphs cannot be compared.
    """
    cost, order = check_cost(cost) or UnitCost(), choose(order, ORDERS, "order")
    one, other = pack_one(source, "source"), pack_one(target, "target")
    check_same_features(one, other)
    one, other = _same_labels(one, other)
    ends = join([one.only(other), other.only(one)])
    nodes = cost.embed(ends).to("cpu").double()
    i, j = torch.tensor([0]), torch.tensor([1])
    if choose_matching(matching, exact=exact, edge_cost=edge_cost) == "nodes":
        edits = node_edits(Pairs(cost, source=nodes, target=nodes, i=i, j=j), exact=exact)
        ops = Operations.of(ends, i=i, j=j, edits=edits)
        least = exact or not large_pairs(cost, one.num_nodes, other.num_nodes)
    else:
        prices = EdgeCost(scale="nodes") if edge_cost is None else EdgeCost.of(edge_cost)
        found = PricedGraphs.of(cost, prices, nodes, nodes, ends, ends).match(i, j)
        ops = Operations.of(ends, i=i, j=j, edits=(found.assignment, found.nodes), edges=found.edges)
        least = float(found.distance[0]) <= float(found.lower[0]) * (1 + 1e-9)
    if order == "valid":
        ops = with_bonds(ops)
    rank, reasons = draw_order(ops, order, derived(base_seed(seed), "order"))
    if reasons[0] is not None:
        what = "connected throughout" if order == "connected" else "one of valid molecules"
        warnings.warn(f"the path is not {what}: {reasons[0]}; its order is random", stacklevel=2)
        order = "random"
    return EditPath(ops, rank=rank, order=order, num_classes=num_classes, finish=finish, exact=least)


def _same_labels(one: PackedGraphs, other: PackedGraphs) -> tuple[PackedGraphs, PackedGraphs]:
    """Both labels as rows of one kind and width, or neither."""
    if one.y is None or other.y is None:
        if one.y is not other.y:
            lacks = "source" if one.y is None else "target"
            raise InputError(f"the {lacks} graph has no label y and the other has: give both one, or neither")
        return one, other
    a, b = matrix(one.y), matrix(other.y)
    if a.shape != b.shape or a.is_floating_point() != b.is_floating_point():
        raise InputError("the labels y of the two graphs differ in width or kind: give both the same")
    return replace(one, y=a), replace(other, y=b)
