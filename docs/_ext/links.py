"""Links that leave the site become the path they name: raw results, scripts and folders lie in the repository.

Links to examples go to their pages in the gallery.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def inside(text: str, page: Path, docs: Path) -> str:
    """Return the text of a page in which every link to a file goes to a page of the site, or is no link.

    Args:
        text: What the page says, in Markdown.
        page: Where it lies.
        docs: The folder of the site.
    """

    def kept(link: re.Match[str]) -> str:
        target = (page.parent / link[2]).resolve()
        if target.is_relative_to(docs) and (target.suffix == "" or (target.exists() and target.name != "README.md")):
            return link[0]
        if target.exists() and target.parent == docs.parent / "examples" and target.suffix == ".py":
            up = "../" * len(page.parent.relative_to(docs).parts)
            return f"[{link[1]}]({up}gallery/{target.stem})"
        said, path = link[1], _from_root(target, docs.parent)
        return f"`{path}`" if path.endswith(said.strip("`").rstrip("/")) else f"{said}, `{path}`"

    parts = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else LINK.sub(kept, part) for part in parts)


def _from_root(target: Path, root: Path) -> str:
    return str(target.relative_to(root)) if target.is_relative_to(root) else str(target)


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(name))
    if page.suffix == ".md":
        source[0] = inside(source[0], page, Path(app.srcdir))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}
