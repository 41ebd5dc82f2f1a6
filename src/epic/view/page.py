"""A path as one page that needs nothing else: it opens from disk, in a notebook, without a network."""

from __future__ import annotations

import html
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from epic.view.frames import KINDS, frames
from epic.view.names import Names, names_of
from epic.view.style import for_pages

if TYPE_CHECKING:
    from jinja2 import Environment

    from epic.paths.edit_path import EditPath


def path_page(
    path: EditPath, title: str = "", names: Names | str | None = None, ends: tuple[str, str] = ("", "")
) -> str:
    """The page of a path.

    ``names`` says what labels are called: ``Names``, or the name of a dataset such as ``"Mutagenicity"``. ``ends``
    names the source and the target.
    """
    return render(
        "path.html.j2",
        {"path": frames(path, names_of(names)), "names": ends},
        title=title or "Edit path",
        about=summary(path),
        names=ends,
    )


def notebook(path: EditPath, title: str = "", names: Names | str | None = None) -> str:
    """The page in a frame of its own, so that its styles and scripts meet nobody else's."""
    page = html.escape(path_page(path, title, names), quote=True)
    return (
        f'<iframe srcdoc="{page}" title="Edit path" sandbox="allow-scripts" '
        'style="width: 100%; height: 760px; border: 0;"></iframe>'
    )


def summary(path: EditPath) -> str:
    kinds = [op.kind for op in path.operations]
    counts = ", ".join(f"{kinds.count(k)} {k}" for k in KINDS if k in kinds)
    return (
        f"{path.source.num_nodes} to {path.target.num_nodes} nodes. Distance {path.distance:.4g}, in {len(path)} "
        f"operations ({counts or 'none'}), order {path.order}."
    )


def render(template: str, data: dict[str, Any], **values: object) -> str:
    """Fill a template of this folder; ``data`` goes in as JSON together with the shared style."""
    from markupsafe import Markup

    return _templates().get_template(template).render(**values, data=Markup(embedded({**data, "style": for_pages()})))


def embedded(data: object) -> str:
    """JSON that can stand inside a script element whatever its strings hold.

    >>> embedded("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader([Path(__file__).parent, Path(__file__).parent.parent / "paper"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
