"""Put parts that are made from the package into pages: each where a comment ``<!-- generated: NAME -->`` names it."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

import parts

PARTS = {
    "methods": parts.methods,
    "commands": parts.commands,
    "config": parts.config,
    "rooms": parts.rooms,
    "errors": parts.errors,
}
PLACE = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = PLACE.sub(lambda place: PARTS[place[1]](), source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Read pages through :func:`_read`."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}
