"""A path as one page that needs nothing else: it opens from disk, in a notebook, without a network."""

from __future__ import annotations

import html
import io
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from epic.errors import InputError
from epic.view.frames import counts, frames
from epic.view.names import Names, names_of
from epic.view.style import for_pages

if TYPE_CHECKING:
    from jinja2 import Environment

    from epic.paths.edit_path import EditPath

MOST_WAYS = 3


def path_page(
    path: EditPath,
    *,
    title: str = "",
    names: Names | str | None = None,
    ends: tuple[str, str] | None = None,
    others: Sequence[EditPath] = (),
) -> str:
    """Return the HTML page of a path, with a slider over its steps.

    Args:
        path: The path.
        title: Title of the page.
        names: What labels are called: a :class:`Names`, or the name of a dataset such as ``"Mutagenicity"``.
        ends: Names of the source and of the target (default: those of the graphs).
        others: Up to two other paths between the same graphs that the page can switch to.
    """
    if len(others) >= MOST_WAYS:
        raise InputError(f"a page shows up to {MOST_WAYS} paths, got {1 + len(others)}")
    ends = path.ends if ends is None else ends
    title = title or (f"{ends[0]} to {ends[1]}" if all(ends) else "Edit path")
    entry = path_entry(path, names_of(names, path.class_names), ends, others)
    return render("path.html.j2", {"entry": entry}, title=title)


def path_entry(path: EditPath, names: Names, ends: tuple[str, str], others: Sequence[EditPath] = ()) -> dict[str, Any]:
    """Return what the scripts need to show a path and others between the same graphs."""
    ways = [
        {**frames(p, names), "title": f"{p.matching} matched, order {p.order}", "about": summary(p)}
        for p in (path, *others)
    ]
    return {"names": ends, "smiles": [end.get("smiles") or "" for end in (path.source, path.target)], "ways": ways}


def summary(path: EditPath) -> str:
    """Return a path in a sentence."""
    return (
        f"{path.source.num_nodes} to {path.target.num_nodes} nodes. Distance {path.distance:.4g}, in {len(path)} "
        f"operations ({counts(path) or 'none'}), order {path.order}."
    )


def notebook(path: EditPath, *, title: str = "", names: Names | str | None = None) -> str:
    """Return the page in a frame, so that its styles and scripts do not meet those of the notebook.

    Args:
        path: The path.
        title: Title of the page.
        names: As in :func:`path_page`.
    """
    page = html.escape(path_page(path, title=title, names=names), quote=True)
    return (
        f'<iframe srcdoc="{page}" title="Edit path" sandbox="allow-scripts allow-downloads" '
        'style="width: 100%; height: 760px; border: 0;"></iframe>'
    )


def render(template: str, data: dict[str, Any], **values: object) -> str:
    """Fill a template of this folder; ``data`` goes in as JSON together with the shared style."""
    from markupsafe import Markup

    return environment().get_template(template).render(**values, data=Markup(embedded({**data, "style": for_pages()})))


def svg(draw: Callable[[Any], None], size: tuple[float, float], *, salt: str = "epic", **options: Any) -> str:
    """Draw on fresh axes and return an SVG element, its text as text, the same for the same drawing and salt."""
    import matplotlib
    from matplotlib.figure import Figure

    figure, text = Figure(figsize=size, layout="constrained"), io.StringIO()
    draw(figure.add_subplot())
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt, "font.sans-serif": ["DejaVu Sans"]}):
        figure.savefig(text, format="svg", metadata={"Date": None}, **options)
    return text.getvalue()[text.getvalue().index("<svg") :]


def embedded(data: object) -> str:
    """Return JSON that is safe inside a script element, whatever its strings hold.

    >>> embedded("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def environment(*folders: Path) -> Environment:
    """Return the jinja2 environment of the pages: templates of this folder, then those of ``folders``."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader([Path(__file__).parent, *folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
