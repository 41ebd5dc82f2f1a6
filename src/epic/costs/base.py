"""The interface of all costs: two statements of what an edit costs, and what follows from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor
from typing_extensions import Self

from epic._io import check_like, read_tensors, write_tensors
from epic.costs.edge import EdgeCost
from epic.distance.edges import PricedGraphs, choose_matching, edge_distance_matrix
from epic.distance.explain import Explanation, explain
from epic.distance.matrices import distance_matrix, some_large
from epic.distance.nearest import Neighbors, nearest, nearest_of
from epic.distance.pairs import Pairs, embed_both, node_distances
from epic.errors import InputError, choose, need_count, reading
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs, PackedGraphs
from epic.matching.types import NodeCosts

FORM = "epic-cost/1"
AUGMENTER_FORM = "epic-augmenter/1"  # holds a cost too


class Cost(ABC):
    """What node operations cost.

    A new cost defines :meth:`embed` and :meth:`substitution`. Distances, paths, augmentation, learning and
    explanations all get their prices from these two. To save it, give it a ``kind`` and define :meth:`state` and
    :meth:`from_state`.
    """

    metric: ClassVar[str | None] = None
    """``"euclidean"`` declares that :meth:`substitution` is the Euclidean distance of float embeddings, which permits a
    compiled assignment. ``"discrete"`` declares that it is 0 for equal embeddings and one price for all others. With
    either, nodes of large pairs can be matched in parts. A subclass that overrides :meth:`substitution` loses it unless
    it declares it again."""

    symmetric: ClassVar[bool] = False
    """Whether u into v costs what v into u does, and u into itself nothing. Half of a matrix is then mirrored. It is
    lost like ``metric``."""

    kind: ClassVar[str] = ""
    """Name under which the cost is saved."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        stated = {n: next(c for c in cls.__mro__ if n in vars(c)) for n in ("metric", "symmetric", "substitution")}
        # Also where a mixin comes before the class that declares them.
        if not issubclass(stated["metric"], stated["substitution"]):
            cls.metric = None
        if not issubclass(stated["symmetric"], stated["substitution"]):
            cls.symmetric = False

    @abstractmethod
    def embed(self, graphs: PackedGraphs) -> NodeCosts:
        """Embed the nodes of graphs; done once for each graph.

        Args:
            graphs: any number of graphs.

        Returns:
            A vector for each node, and the prices of deleting and inserting it.
        """

    @abstractmethod
    def substitution(self, source: Tensor, target: Tensor) -> Tensor:
        """Price substitutions.

        Args:
            source: vectors ``[..., n, D]`` of source nodes, from :meth:`embed`. Where a distance is asked for they come
                on the CPU in float64.
            target: vectors ``[..., m, D]`` of target nodes.

        Returns:
            Prices ``[..., n, m]`` of turning each source node into each target node.
        """

    @torch.no_grad()
    def distance(
        self,
        source: Graphs,
        target: Graphs,
        *,
        matching: str = "nodes",
        edge_cost: EdgeCost | float | None = None,
        exact: bool = False,
    ) -> float:
        """Compute the edit distance of two graphs.

        Args:
            source: one graph.
            target: another one.
            matching: ``nodes``: the cheapest node operations, edges have no price (the paper). ``edges``: nodes and
                edges together cost little; see :func:`epic.edit_distance` for bounds and for other methods.
            edge_cost: what edge operations cost with ``matching="edges"``, or one price for all of them (default:
                :class:`epic.EdgeCost`, scaled to the node costs).
            exact: match the nodes of large graphs exactly, too. Otherwise more than 2**19 pairs of a source and a
                target node (724 x 724) are matched in parts, far faster: the distance is an upper bound, mostly within
                5 % of the exact one, and a warning says so once.

        Returns:
            The cost of the edit path found.
        """
        if choose_matching(matching, exact=exact, edge_cost=edge_cost) == "edges":
            return float(self.distances(source, target, matching=matching, edge_cost=edge_cost, progress=False))
        one, other = embed_both(self, source, target)
        zero = torch.zeros(1, dtype=torch.long)
        return float(node_distances(Pairs(self, source=one, target=other, i=zero, j=zero), exact=exact))

    @torch.no_grad()
    def distances(
        self,
        source: Graphs,
        target: Graphs | None = None,
        *,
        matching: str = "nodes",
        edge_cost: EdgeCost | float | None = None,
        exact: bool = False,
        progress: bool = True,
    ) -> Tensor:
        """Compute the edit distances of every source graph to every target graph.

        With ``matching="edges"`` the search may find another cost from the other end. Without ``target`` both
        directions get the lower one, so they may be less than :meth:`distance`.

        Args:
            source: A graphs.
            target: B graphs (default: the source graphs).
            matching: as in :meth:`distance`.
            edge_cost: as in :meth:`distance`.
            exact: as in :meth:`distance`.
            progress: show a progress bar if it takes more than a second.

        Returns:
            Distances ``[A, B]``.
        """
        one = pack(source)
        other = one if target is None else pack(target)
        a, b = embed_both(self, one, None if target is None else other)
        mirror = self.symmetric and target is None and torch.equal(a.deletion, a.insertion)
        if choose_matching(matching, exact=exact, edge_cost=edge_cost) == "edges":
            prices = EdgeCost(scale="nodes") if edge_cost is None else EdgeCost.of(edge_cost)
            priced = PricedGraphs.of(self, prices, a, b, one, other)
            return edge_distance_matrix(priced, mirror=mirror and prices.symmetric, progress=progress)
        return distance_matrix(self, source=a, target=b, mirror=mirror, progress=progress, exact=exact)

    @torch.no_grad()
    def nearest(
        self,
        source: Graphs,
        target: Graphs | None = None,
        *,
        k: int = 1,
        matching: str = "nodes",
        edge_cost: EdgeCost | float | None = None,
        exact: bool = False,
        progress: bool = True,
    ) -> Neighbors:
        """Find the k nearest target graphs of each source graph.

        By nodes the answer is exact, but cheaper than the matrix: where a lower bound already decides, no assignment is
        solved. By edges, and where graphs are large, it comes from the whole matrix.

        Args:
            source: the queries.
            target: the reference graphs (default: the other source graphs).
            k: number of neighbours.
            matching: as in :meth:`distance`.
            edge_cost: as in :meth:`distance`.
            exact: as in :meth:`distance`.
            progress: show a progress bar if it takes more than a second.

        Returns:
            Indices and distances ``[queries, k]``, and ties.
        """
        a, b = embed_both(self, source, target)
        others = len(b) - (target is None)
        if need_count(k, "k") > others:
            raise InputError(f"k = {k} neighbours asked of {others} graphs: k must lie between 1 and {others}")
        edges = choose_matching(matching, exact=exact, edge_cost=edge_cost) == "edges"
        if edges or (not exact and some_large(self, a, b)):
            whole = self.distances(source, target, matching=matching, edge_cost=edge_cost, progress=progress)
            return nearest_of(whole, k=k, skip_self=target is None)
        return nearest(self, source=a, target=b, k=k, skip_self=target is None, progress=progress)

    def explain(self, graph: Graphs, reference: Graphs | None = None) -> Explanation:
        """Tell what each node of a graph costs; ``epic.view.costs`` draws it.

        Args:
            graph: one graph.
            reference: graphs whose nodes it is compared with.

        Returns:
            The price of deleting and inserting each node, and the mean price of substituting it by a node of the
            reference graphs.
        """
        return explain(self, graph, reference)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if not name.startswith("_"))
        return f"{type(self).__name__}({shown})"

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the tensors and JSON values that :meth:`from_state` makes the cost from."""
        return {}, {}

    @classmethod
    def from_state(cls, tensors: dict[str, Tensor], header: dict[str, Any]) -> Cost:
        """Return the cost that :meth:`state` described.

        Args:
            tensors: The tensors that :meth:`state` gave.
            header: A dictionary that holds the JSON values that it gave.
        """
        return cls()

    def save(self, path: str | Path) -> None:
        """Write the cost as safetensors.

        Args:
            path: file to write.
        """
        check_kind(self)
        tensors, header = self.state()
        write_tensors(path, tensors, {"format": FORM, "kind": self.kind, **header})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a saved cost, or the cost of a saved augmentation.

        Args:
            path: file to read.

        Returns:
            The cost. ``Cost.load`` takes any kind, ``LearnedCost.load`` a learned one only.
        """
        tensors, header = read_tensors(path, FORM, AUGMENTER_FORM)
        found = cost_from_state(tensors, header, path)
        if not isinstance(found, cls):
            raise InputError(f"{path} holds a {header['kind']} cost, not a {cls.kind} one: use Cost.load")
        return found


def euclidean(source: Tensor, target: Tensor) -> Tensor:
    """Compute Euclidean distances with a gradient everywhere (0, not infinity, at distance 0).

    Inner products are about nine times faster than differences (``torch.cdist`` without its matrix product, 30-node
    graphs on a CPU). A single source row is compared by differences, which keep all digits: equal nodes are at distance
    zero.

    Args:
        source: vectors ``[..., n, D]``.
        target: vectors ``[..., m, D]``.

    Returns:
        Distances ``[..., n, m]``.
    """
    if source.shape[-2] == 1:
        square = (target - source).square().sum(-1)[..., None, :]
    else:
        # Far from the origin inner products cancel; distances do not change if both sides move together.
        middle = source.detach().mean(-2, keepdim=True) if source.shape[-2] else 0.0
        source, target = source - middle, target - middle
        square = (
            source.square().sum(-1)[..., :, None]
            + target.square().sum(-1)[..., None, :]
            - 2 * source @ target.transpose(-1, -2)
        )
    positive = square > 0
    return square.where(positive, 1.0).sqrt() * positive


def cost_from_state(tensors: dict[str, Tensor], header: dict[str, Any], path: str | Path) -> Cost:
    """Make the cost that a header describes, whatever its kind."""
    known = {c.kind: c for c in _descendants(Cost) if c.__dict__.get("kind")}  # type: ignore[type-abstract]
    kind = choose(header.get("kind"), known, f"kind of cost in {path}:")
    with reading(path):
        cost = known[kind].from_state(tensors, header)
        check_like(tensors, cost.state()[0])
    return cost


def check_cost(value: Any, name: str = "cost") -> Cost | None:
    """Return a cost, or None, or raise an error."""
    if value is not None and not isinstance(value, Cost):
        raise InputError(f"{name} must be an epic Cost such as UnitCost(), got {value!r}")
    return value


def check_kind(cost: Cost) -> None:
    """Refuse to save a cost that could not be read back: a subclass must name its kind."""
    if not type(cost).__dict__.get("kind"):
        raise InputError(f"{type(cost).__name__} has no kind of its own: set one, and define state and from_state")


def _descendants(cls: type[Cost]) -> Iterator[type[Cost]]:
    for child in cls.__subclasses__():
        yield child
        yield from _descendants(child)
