"""``epic demo``: the whole idea in about a minute, with no data to fetch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epic.errors import InputError


def demo(
    out: Annotated[Path, typer.Option(help="Folder for what the demo writes.")] = Path("demo"),
    graphs: Annotated[int, typer.Option(help="Lollipop graphs to learn from.", min=20)] = 600,
    epochs: Annotated[int, typer.Option(help="Epochs of learning.", min=1)] = 40,
    seed: Annotated[int, typer.Option(help="Seed of data and learning.")] = 0,
) -> None:
    """Learn edit costs on lollipop graphs, compare them with the paper's, and draw an edit path.

    A lollipop is a clique (head) with a chain (tail); its class is the size of the head. Learned costs should find that
    out: between classes, editing a head is dear and editing a tail cheap.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror}") from error
    from epic import EPIC
    from epic.bench.lollipop import pattern, rows
    from epic.data import lollipop

    train, unseen = lollipop(graphs, seed=seed), lollipop(120, seed=seed + 1)
    typer.echo(f"{len(train)} lollipop graphs to learn from, {len(unseen)} unseen ones to look at")
    augment = EPIC(seed=seed).fit(train, epochs=epochs, seed=seed)

    typer.echo("\nMean substitution cost on unseen graphs, the largest set to 1 (paper: appendix C)")
    typer.echo(f"  {'pair of graphs':<16}{'nodes':<12}{'paper':>7}{'here':>7}")
    part_name = {"head": "head-head", "mixed": "head-tail", "tail": "tail-tail"}
    sign_name = {"negative": "other class", "positive": "same class"}
    for sign, part, printed, measured in rows(pattern(augment.cost, unseen)):
        shown = "-" if printed is None else f"{printed:.2f}"
        typer.echo(f"  {sign_name[sign]:<16}{part_name[part]:<12}{shown:>7}{measured:>7.2f}")

    model, picture = out / "lollipop.safetensors", out / "path.png"
    augment.save(model)
    source = unseen[0]
    target = next(g for g in unseen if int(g.y) == 2)
    path = augment.path(source, target, seed=seed)
    path.plot(steps=6, path=picture)
    typer.echo(f"\n{path}")
    for operation in path.operations[:4]:
        typer.echo(f"  {operation}")
    typer.echo(f"  ... and {len(path) - 4} more")
    typer.echo(f"\nwrote {model} (load it with epic.EPIC.load) and {picture}")
