"""What edges cost, next to what nodes cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from epic.errors import InputError, choose, need_number
from epic.graphs.packed import matrix

Price = float | Callable[[Tensor], Tensor]
"""A number, or a function of attributes ``[K, D]`` that gives K prices."""
Substitution = float | Callable[[Tensor, Tensor], Tensor]
"""A number for edges that differ, or a function of attributes ``[K, D]`` and ``[L, D]`` that gives K x L prices."""


class EdgeCost:
    """What inserting, deleting and substituting an edge costs.

    By default an insertion or deletion costs 1, and a substitution 1 if the attributes ``edge_attr`` differ, else 0. A
    substitution never costs more than a deletion and an insertion.

    Args:
        price: the price of all three; the others replace it one by one.
        insertion: price of inserting an edge, a number or a function of its attributes.
        deletion: price of deleting an edge, a number or a function of its attributes.
        substitution: price of changing the attributes of an edge to different ones, or a function of both attributes.
        scale: ``"nodes"`` multiplies all prices by the mean price of deleting a source node or inserting a target node
            of the pair at hand, so that edges weigh as much against learned node costs as against unit ones.
        directed: count each direction as an edge. Otherwise an edge that goes both ways counts once, and one that goes
            one way half.

    >>> EdgeCost().table(torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0]])).tolist()
    [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]
    >>> EdgeCost(2, substitution=lambda a, b: (a - b.T).abs())
    EdgeCost(2, substitution=<function>)
    """

    def __init__(
        self,
        price: float = 1.0,
        *,
        insertion: Price | None = None,
        deletion: Price | None = None,
        substitution: Substitution | None = None,
        scale: str | None = None,
        directed: bool = False,
    ) -> None:
        if scale is not None:
            choose(scale, ["nodes"], "scale of edge costs")
        others = {"insertion": insertion, "deletion": deletion, "substitution": substitution}
        numbers = {name: value for name, value in others.items() if value is not None and not callable(value)}
        for name, value in {"price": price, **numbers}.items():
            if need_number(value, f"the {name} of an edge") < 0:
                raise InputError(f"the {name} of an edge must be 0 or more, got {value}")
        self.price, self.scale, self.directed = price, scale, directed
        self.insertion, self.deletion, self.substitution = insertion, deletion, substitution

    @classmethod
    def of(cls, value: EdgeCost | float | None) -> EdgeCost:
        """Return an edge cost as it is, a number as the price of all edits, None as unit cost."""
        if isinstance(value, EdgeCost):
            return value
        if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            return cls() if value is None else cls(value)
        raise InputError(f"edge_cost must be an EdgeCost or a number, got {value!r}")

    def __repr__(self) -> str:
        said = [f"{self.price:g}"] if self.price != 1 else []
        for name in ("insertion", "deletion", "substitution", "scale", "directed"):
            value = getattr(self, name)
            if value is not None and value is not False:
                said.append(f"{name}={'<function>' if callable(value) else repr(value)}")
        return f"EdgeCost({', '.join(said)})"

    @property
    def symmetric(self) -> bool:
        """Whether an edge costs as much to delete as to insert, and to change as to change back."""
        return self.insertion == self.deletion and not callable(self.substitution)

    def table(self, source: Tensor, target: Tensor) -> np.ndarray:
        """Return the prices of all edits between edges of given attributes.

        Args:
            source: attributes ``[K, D]`` of K different source edges.
            target: attributes ``[L, D]`` of L different target edges.

        Returns:
            Prices ``[K + 1, L + 1]``: substitutions after the first row (insertions) and the first column (deletions).
        """
        out = np.zeros((len(source) + 1, len(target) + 1))
        out[0, 1:] = _prices(self.insertion, self.price, target)
        out[1:, 0] = _prices(self.deletion, self.price, source)
        if callable(self.substitution):
            out[1:, 1:] = _numbers(self.substitution(source, target), (len(source), len(target)))
        else:
            differ = np.zeros((len(source), len(target)), dtype=bool)
            for mine, theirs in zip(matrix(source).T, matrix(target).T, strict=True):  # numpy has no bfloat16
                differ |= (mine[:, None] != theirs).numpy()
            out[1:, 1:] = differ * float(self.price if self.substitution is None else self.substitution)
        return out


def _prices(price: Price | None, default: float, attributes: Tensor) -> float | np.ndarray:
    if callable(price):
        return _numbers(price(attributes), (len(attributes),))
    return float(default if price is None else price)


def _numbers(value: Tensor, shape: tuple[int, ...]) -> np.ndarray:
    found = torch.as_tensor(value).detach().cpu().double().numpy()
    if found.shape != shape:
        raise InputError(f"a function of edge attributes must give prices of shape {shape}, got {found.shape}")
    return found
