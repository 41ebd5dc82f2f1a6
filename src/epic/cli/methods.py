"""``epic methods``: what there is to choose from."""

from __future__ import annotations

from typing import Annotated

import typer

from epic.cli.messages import show


def methods(
    papers: Annotated[bool, typer.Option("--papers", help="Name the paper of each method too.")] = False,
    grids: Annotated[bool, typer.Option("--grids", help="Show the strengths that tuning chooses from.")] = False,
) -> None:
    """List the augmentation methods: what each changes, needs, does to labels and edge attributes, and costs.

    The name is what `epic train --method` takes; settings are given with `--set NAME=VALUE`.
    """
    from epic.augment import METHODS

    columns = ["changes", "needs", "label", "edge_attr", "cost", *(["paper"] if papers else [])]
    rows = []
    for name, preset in METHODS.items():
        row = [name, *(getattr(preset.info, c) for c in columns)]
        if grids:
            row.append("; ".join(f"{k} {', '.join(map(str, v))}" for k, v in preset.grid.items()) or "-")
        rows.append(row)
    titles = ["method", *(c.replace("edge_attr", "edge attributes") for c in columns), *(["grid"] if grids else [])]
    show(titles, rows)
