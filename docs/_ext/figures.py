"""Let sphinx-gallery find figures that were made without pyplot: those that a script has in a variable."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def scrape(block: tuple[Any, ...], variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Save the figures that a block made, and return the lines that show them."""
    saved = []
    for name, value in variables["example_globals"].items():
        if isinstance(value, Figure) and not getattr(value, "scraped", False):
            path = next(variables["image_path_iterator"])
            value.savefig(path, dpi=110)
            value.scraped = True  # type: ignore[attr-defined]
            saved.append((path, name.replace("_", " ")))
    shown = (figure_rst([path], settings["src_dir"], alt) for path, alt in saved)
    return "".join(f"\n.. container:: wide\n\n{indent(text, '   ')}\n" for text in shown)  # a phone scrolls it
