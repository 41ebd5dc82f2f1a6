"""Many small paths on one page, to judge a cost at a glance: are graphs of one class nearer than those of two?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from epic.view.frames import counts
from epic.view.names import Names, names_of
from epic.view.page import path_entry, render

if TYPE_CHECKING:
    from epic.paths.edit_path import EditPath

TITLES = {"same": "Same class", "different": "Different class", "random": "Random pairs"}


@dataclass(frozen=True)
class Exhibit:
    """One path of a gallery.

    Args:
        path: The path.
        source: Number of the source graph in its dataset.
        target: Number of the target graph.
        kind: ``"same"`` if both graphs are of one class, ``"different"``, or ``"random"`` if there are no classes.
    """

    path: EditPath
    source: int
    target: int
    kind: str


def gallery_page(exhibits: Sequence[Exhibit], *, title: str, about: str = "", names: Names | str | None = None) -> str:
    """Return the HTML page of a gallery, half-way along all paths. It needs no network.

    A name on the page opens the whole path; its address ends in ``#path=3``, or in ``#path=3&step=12``.

    Args:
        exhibits: The paths, in the order in which they are shown.
        title: Title of the page.
        about: A sentence under the title.
        names: What labels are called: a :class:`Names`, or the name of a dataset such as ``"Mutagenicity"``.
    """
    known = exhibits[0].path.class_names if exhibits else ()
    called, means = names_of(names, known), _means(exhibits)
    return render(
        "gallery.html.j2",
        {"entries": [_entry(e, called) for e in exhibits]},
        title=title,
        about=" ".join(part for part in (about, comparison(exhibits)) if part),
        groups=[(kind, text, means[kind]) for kind, text in TITLES.items() if kind in means],
    )


def comparison(exhibits: Sequence[Exhibit]) -> str:
    """Return a sentence with the mean distances within and between classes; empty if one of them is missing."""
    means = _means(exhibits)
    if "same" not in means or "different" not in means:
        return ""
    same, other = means["same"], means["different"]
    ratio = f", {other / same:.2f} times as far" if same > 0 else ""
    return f"Mean distance {same:.4g} within a class, {other:.4g} between classes{ratio}."


def _means(exhibits: Sequence[Exhibit]) -> dict[str, float]:
    """Return the mean distance of each kind of pair that occurs."""
    kinds = {e.kind for e in exhibits}
    return {kind: float(np.mean([e.path.distance for e in exhibits if e.kind == kind])) for kind in kinds}


def _entry(e: Exhibit, names: Names) -> dict[str, Any]:
    ends = (e.path.ends[0] or f"graph {e.source}", e.path.ends[1] or f"graph {e.target}")
    return {
        **path_entry(e.path, names, ends),
        "kind": e.kind,
        "classes": [_class(e.path, k, names) for k in (0, len(e.path))],
        "counts": counts(e.path) or "no operations",
    }


def _class(path: EditPath, k: int, names: Names) -> str:
    label = path.label(k).tolist()
    if len(label) > 1:
        return names.class_name(label.index(1)) if label.count(1) == 1 else ""
    if np.isnan(label[0]):
        return "label missing"
    return names.class_name(int(label[0])) if label[0] in (0, 1) else f"y = {label[0]:.3g}"
