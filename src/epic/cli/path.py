"""``epic path``: look at an edit path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epic.cli.fields import listed, options_from
from epic.cli.options import (
    Atoms,
    CostFile,
    DataFolder,
    EdgePrice,
    Matching,
    Order,
    check_edge_price,
    cost_from,
    need_writable,
    opened,
)
from epic.errors import choose
from epic.train.config import RunConfig

if TYPE_CHECKING:
    from epic.paths import EditPath

WHICH = (
    "the row of its file, or its name. Rows are counted from 0. The header and blank lines do not count; skipped rows "
    "do. Graphs without rows are counted from 0."
)


@options_from(RunConfig, "dataset", "target", "task", "seed")
def path(
    run: dict[str, Any],
    start: Annotated[str, typer.Argument(metavar="FROM", help=f"The source graph: {WHICH}", show_default=False)],
    end: Annotated[str, typer.Argument(metavar="TO", help="The target graph, likewise.", show_default=False)],
    cost: CostFile = None,
    matching: Matching = "nodes",
    edge_price: EdgePrice = None,
    order: Order = "random",
    out: Annotated[Path | None, typer.Option(help="Page with a slider (.html) or picture (.png, .svg, .pdf).")] = None,
    others: Annotated[
        str, typer.Option(help="Up to two other ways that the page can switch to, such as edges,connected.")
    ] = "",
    atoms: Atoms = "",
    steps: Annotated[int, typer.Option(help="Graphs in a picture.", min=2, max=100)] = 6,
    data: DataFolder = None,
) -> None:
    """Print the edit path between two graphs of a dataset, and draw it.

    Examples: epic path MUTAG 3 40 --matching edges --others nodes,bfs --out path.html, or epic path drugs.csv aspirin
    ibuprofen --matching edges --order valid
    """
    from epic.distance.edges import MATCHINGS
    from epic.paths import edit_path
    from epic.paths.edit_path import SAVED_AS
    from epic.paths.operations import ORDERS
    from epic.view.names import dataset_names

    if out is not None:
        need_writable(out, *SAVED_AS, besides=[run["dataset"], cost])
    check_edge_price(edge_price, matching, *listed(others))
    loaded = opened(run, data)
    numbers = (loaded.find(start), loaded.find(end))
    graphs = (loaded[numbers[0]], loaded[numbers[1]])
    ends = (loaded.graphs.title(numbers[0]), loaded.graphs.title(numbers[1]))
    names = dataset_names(loaded, atoms=listed(atoms))
    priced = cost_from(cost)

    def find(matching: str = matching, order: str = order) -> EditPath:
        known = {"seed": run["seed"], "num_classes": loaded.num_classes}
        edges = edge_price if matching == "edges" else None
        return edit_path(*graphs, priced, matching=matching, edge_cost=edges, order=order, **known)

    found = find()
    also = [choose(word, (*MATCHINGS, *ORDERS), "way") for word in listed(others)]
    ways = [find(**{"matching" if word in MATCHINGS else "order": word}) for word in also]
    for what, title, graph in zip(("from", "to"), ends, graphs, strict=True):
        typer.echo(f"{what:<4}  {title}" + (f": {graph.smiles}" if "smiles" in graph else ""))
    typer.echo(str(found))
    for k, operation in enumerate(found.operations, 1):
        label = "" if loaded.graphs.y is None else _told(found.label(k).tolist(), loaded.class_names)
        molecule = "" if found.order != "valid" else f"   {found.smiles(k) or 'not valid'}"
        typer.echo(f"{k:>4}  {operation!s:<32} {found.fraction(k):>6.1%} of cost   {label}{molecule}".rstrip())
    if found.order == "valid":
        typer.echo(f"{sum(found.valid)} of {len(found.valid)} graphs are valid molecules")
    if out is not None:
        title = f"{loaded.name}: {ends[0]} to {ends[1]}"
        found.save(out, title=title, names=names, ends=ends, others=ways, steps=steps)
        typer.echo(f"wrote {out}")


def _told(label: list[float], class_names: Sequence[str]) -> str:
    """Return a soft label in words.

    >>> _told([0.25], ("inactive", "active")), _told([0.25, 0.75], ("inactive", "active")), _told([0.25, 0.75], ())
    ('active 0.25', 'inactive 0.25 active 0.75', 'label 0.25 0.75')
    """
    if not class_names or len(label) > len(class_names):
        return "label " + " ".join(f"{v:.2f}" for v in label)
    return " ".join(f"{name} {v:.2f}" for name, v in zip(class_names[-len(label) :], label, strict=True))
