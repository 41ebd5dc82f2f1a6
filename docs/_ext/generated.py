"""Directives for parts of pages that are made while the site is built: methods, commands, config, rooms."""

from __future__ import annotations

from typing import Any

import parts
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

MARKDOWN = {"methods-table": parts.methods, "commands": parts.commands, "config-fields": parts.config}


class MarkdownPart(SphinxDirective):
    """Put in what the function of this name in ``parts.py`` writes."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(MARKDOWN[self.name](), allow_section_headings=True)


class RoomsMap(SphinxDirective):
    """Put in the map of the rooms."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", parts.rooms(), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    for name in MARKDOWN:
        app.add_directive(name, MarkdownPart)
    app.add_directive("rooms-map", RoomsMap)
    return {"parallel_read_safe": True}
