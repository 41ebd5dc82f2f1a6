"""``epic methods``: what there is to choose from."""

from __future__ import annotations

from typing import Annotated

import typer

from epic.cli.messages import show
from epic.train.config import default_settings


def methods(
    name: Annotated[str | None, typer.Argument(help="List the settings of this method.", show_default=False)] = None,
    papers: Annotated[bool, typer.Option("--papers", help="Name the paper of each method too.")] = False,
    grids: Annotated[bool, typer.Option("--grids", help="Show the strengths that tuning chooses from.")] = False,
) -> None:
    """List the augmentation methods: what each changes, needs, does to labels and edge attributes, and costs.

    The name is what `epic train --method` takes; settings are given with `--set NAME=VALUE`.

    Example: epic methods drop_edge
    """
    from epic.augment import METHODS, find_method

    if name is not None:
        params = find_method(name).params
        settings = default_settings(name)
        rows = [
            (n, str(v), ", ".join(map(str, params[n].choices)) or "-", params[n].help or "")
            for n, v in settings.items()
        ]
        return show(("setting", "default", "tuning tries", "what it is"), rows)
    columns = ["changes", "needs", "label", "edge_attr", "cost", *(["paper"] if papers else [])]
    table = []
    for method, preset in METHODS.items():
        row = [method, *(getattr(preset.info, c) for c in columns)]
        if grids:
            row.append("; ".join(f"{k} {', '.join(map(str, v))}" for k, v in preset.grid.items()) or "-")
        table.append(row)
    show(["method", *(c.replace("edge_attr", "edge attributes") for c in columns), *(["grid"] if grids else [])], table)
