"""``epic gallery``: many paths on one page."""

from __future__ import annotations

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
from epic.errors import InputError
from epic.train.config import RunConfig

if TYPE_CHECKING:
    from epic.costs import Cost
    from epic.data import Dataset
    from epic.view import Exhibit


@options_from(RunConfig, "dataset", "target", "task", "seed")
def gallery(
    run: dict[str, Any],
    pairs: Annotated[int, typer.Option(help="Paths to show, half of them within a class.", min=1, max=1000)] = 12,
    cost: CostFile = None,
    matching: Matching = "nodes",
    edge_price: EdgePrice = None,
    order: Order = "random",
    atoms: Atoms = "",
    out: Annotated[Path, typer.Option(help="Page to write: .html.")] = Path("gallery.html"),
    data: DataFolder = None,
) -> None:
    """Draw many small edit paths on one page, within and between classes, to judge a cost at a glance.

    Example: epic gallery NCI1 --pairs 12 --cost nci1.safetensors --out gallery.html
    """
    need_writable(out, ".html", besides=[run["dataset"], cost])
    check_edge_price(edge_price, matching)
    from epic._io import write_text
    from epic.view.gallery import comparison, gallery_page
    from epic.view.names import dataset_names

    loaded = opened(run, data)
    names = dataset_names(loaded, atoms=listed(atoms))
    how: dict[str, Any] = {"matching": matching, "edge_cost": edge_price, "order": order}
    shown = exhibits(loaded, cost=cost_from(cost), pairs=pairs, seed=run["seed"], **how)
    used = "Operations are counted." if cost is None else f"Costs from {cost.name}."
    if matching == "edges":
        used += " Nodes and edges are matched together."
    title = f"{len(shown)} edit paths of {loaded.name}"
    write_text(out, gallery_page(shown, title=title, about=used, names=names))
    typer.echo(comparison(shown) or f"{len(shown)} paths")
    typer.echo(f"wrote {out}")


def exhibits(dataset: Dataset, *, cost: Cost, pairs: int, seed: int, **how: Any) -> list[Exhibit]:
    """Find paths between random graphs of a dataset, half of them within a class and half between classes.

    Real-valued targets and several tasks have no classes to compare: their pairs are random. ``how`` are options of
    :func:`epic.edit_path`.
    """
    from epic.augment.sampling import draw_pairs
    from epic.graphs.packed import matrix
    from epic.paths import edit_path
    from epic.random import base_seed, derived
    from epic.view import Exhibit

    comparable = dataset.task != "values" and matrix(dataset.y).shape[1] == 1
    wanted = {"same": -(-pairs // 2), "different": pairs // 2} if comparable else {"random": pairs}
    origin = base_seed(seed)
    made = []
    for kind, count in wanted.items():
        # Draw more than is shown: partners then come from a larger pool, and few graphs appear twice.
        drawn = draw_pairs(
            dataset.y,
            graphs=len(dataset),
            count=40 * count,
            pairs=kind,
            generator=derived(origin, "gallery", kind),
        )
        for i, j in zip(*(d[:count].tolist() for d in drawn), strict=True):
            one, other = dataset.graphs.graph(i), dataset.graphs.graph(j)
            path = edit_path(one, other, cost=cost, seed=origin, num_classes=dataset.num_classes, **how)
            made.append(Exhibit(path, i, j, kind))
    if not made:
        raise InputError(f"{dataset.name} has {len(dataset)} graphs, and no two to make a path between")
    return made
