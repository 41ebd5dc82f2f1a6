"""What a mixture of two graphs takes from them: its label, and a name that says which they were."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from epic.graphs.packed import PackedGraphs, entries
from epic.labels import mix

PARENTS = "parents"
"""Key of ``per_graph`` under which methods tell the base class what their mixtures are called."""


def mixture(
    made: PackedGraphs, y: Tensor, titles: list[str] | None, *, source: Tensor, target: Tensor, share: Tensor
) -> PackedGraphs:
    """Return mixtures with their labels, and with the names of their parents, ``urea -> glycine``, if these have any.

    Args:
        made: The mixtures.
        y: Labels of the originals, as float rows.
        titles: What the originals are called.
        source: The first parent of each mixture.
        target: The second one.
        share: How much of the label is the second one's.
    """
    first, second = (y.index_select(0, number.to(y.device)) for number in (source, target))
    known = {}
    if titles is not None:
        pairs = zip(source.tolist(), target.tolist(), strict=True)
        known[PARENTS] = entries(f"{titles[i]} -> {titles[j]}" for i, j in pairs)
    return replace(made, y=mix(first, target=second, share=share.to(y.device)), per_graph=known)


def named_alike(originals: PackedGraphs, made: PackedGraphs) -> PackedGraphs:
    """Return the originals with names, where mixtures are called by the titles of rows."""
    if "name" not in made.per_graph or "name" in originals.per_graph or originals.titles is None:
        return originals
    return replace(originals, per_graph={**originals.per_graph, "name": entries(originals.titles)})
