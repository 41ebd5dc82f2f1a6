"""The paper's appendix C: do learned costs see that the head decides the class of a lollipop?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from epic.costs.base import Cost
from epic.costs.learned import LearnedCost
from epic.data.lollipop import lollipop
from epic.distance.pairs import embed_all
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs


@dataclass(frozen=True)
class Pattern:
    """Mean substitution costs by part of the two nodes, divided by the largest of the six means.

    ``negative`` is between graphs of different classes, ``positive`` between graphs of the same class. None where the
    paper prints no number.
    """

    negative_head: float | None
    negative_mixed: float | None
    negative_tail: float | None
    positive_head: float | None
    positive_mixed: float | None
    positive_tail: float | None


PRINTED = Pattern(0.97, None, 0.04, 0.07, 0.8, 0.2)
SIGNS = {"negative": "Graphs of different classes", "positive": "Graphs of the same class"}
PARTS = {"head": "head and head", "mixed": "head and tail", "tail": "tail and tail"}


def pattern(cost: Cost, graphs: Graphs) -> Pattern:
    """Measure the pattern on lollipop graphs."""
    packed = pack(graphs)
    nodes = embed_all(cost, packed)
    price = cost.substitution(nodes.embedding, nodes.embedding)
    owner, head = packed.graph_of_node, packed.node["head"].bool()
    label = packed.labels[owner]
    same, twin = label[:, None] == label, owner[:, None] == owner
    parts = {"head": head[:, None] & head, "mixed": head[:, None] ^ head, "tail": ~(head[:, None] | head)}
    means = {
        f"{sign}_{part}": float(price[here & where].mean())
        for sign, where in (("negative", ~same), ("positive", same & ~twin))
        for part, here in parts.items()
    }
    top = max(means.values())
    return Pattern(**{k: v / top for k, v in means.items()})


def rows(measured: Pattern) -> list[tuple[str, str, float | None, float]]:
    """List pair, part, printed and measured value, in the order of the paper's figure."""
    names = [(sign, part, f"{sign}_{part}") for sign in SIGNS for part in PARTS]
    return [(sign, part, getattr(PRINTED, name), getattr(measured, name)) for sign, part, name in names]


def part_costs(patterns: Sequence[Pattern], sign: str) -> tuple[list[str], list[float | None], list[list[float]]]:
    """Return the names of the parts, their printed costs, and the costs measured with each seed."""
    names = [f"{sign}_{part}" for part in PARTS]
    measured = [[getattr(p, name) for p in patterns] for name in names]
    return list(PARTS.values()), [getattr(PRINTED, name) for name in names], measured


def lollipop_run(graphs: int = 600, unseen: int = 120, epochs: int = 40, seed: int = 0) -> dict[str, Any]:
    """Measure the pattern on unseen graphs, after learning on others."""
    begin = time.perf_counter()
    cost = LearnedCost().fit(lollipop(graphs, seed=seed), epochs=epochs, seed=seed, progress=False)
    found = pattern(cost, lollipop(unseen, seed=seed + 1))
    return {"pattern": asdict(found), "seconds": round(time.perf_counter() - begin, 1)}
