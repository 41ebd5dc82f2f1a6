"""Colours and outlines that all pictures share: strips, pages and cost maps."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours, which colour-blind readers can tell apart. Every node also carries a letter or number.
COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#999999")
BLANK = "#FFFFFF"

# The same colours for elements, near to what chemists expect: oxygen reddish, nitrogen blue, ...
ELEMENTS = {
    "C": "#D9D9D9",
    "H": "#FFFFFF",
    "O": "#D55E00",
    "N": "#56B4E9",
    "S": "#F0E442",
    "P": "#E69F00",
    "F": "#009E73",
    "Cl": "#009E73",
    "Br": "#CC79A7",
    "I": "#CC79A7",
}
OTHER_ELEMENT = "#999999"

# What becomes of a node, and how its outline shows it: thin, thick, dashed, or two lines. Colour is for labels alone.
FATES = ("kept", "substituted", "deleted", "inserted")
INK = "#1B1F24"
WIDTH = {"kept": 1.2, "substituted": 2.6, "deleted": 2.2, "inserted": 2.6}
DASH = {"kept": "", "substituted": "", "deleted": "3 2", "inserted": ""}

# Edges: in both graphs, of the source only (dashed), of the target only (thick).
EDGES = ("kept", "dying", "newborn")
EDGE_INK = "#6B737B"

# Steps of the colour map cividis, for classes in a soft label: unlike the colours of nodes.
CIVIDIS = ("#00224E", "#35456C", "#666970", "#948E77", "#C8B866", "#FEE838")

# The legend of nodes and of edges.
NODE_LEGEND = {
    "kept": "as in the source",
    "substituted": "substituted",
    "deleted": "to be deleted",
    "inserted": "inserted",
}
EDGE_LEGEND = {"kept": "in both graphs", "dying": "in the source only", "newborn": "in the target only"}


def ink_on(fill: str) -> str:
    """Return black or white, whichever reads better on a colour."""
    r, g, b = (int(fill[i : i + 2], 16) for i in (1, 3, 5))
    return "#111111" if 0.299 * r + 0.587 * g + 0.114 * b > 115 else "#FFFFFF"


def for_pages() -> dict[str, Any]:
    """Return the same for the scripts of a page."""
    return {
        "fates": FATES,
        "width": WIDTH,
        "dash": DASH,
        "blank": BLANK,
        "classes": CIVIDIS,
        "told": NODE_LEGEND,
        "edges": EDGE_LEGEND,
    }
