"""``epic demo``: the whole idea in about a minute, with no data to fetch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from epic.cli.messages import progress, show
from epic.cli.options import make_folder

WRONG = 0.4
"""Share of wrong labels in the classification task: without them the task is too easy to tell methods apart."""


def demo(
    out: Annotated[Path, typer.Option(help="Folder for what the demo writes.")] = Path("demo"),
    graphs: Annotated[int, typer.Option(help="Lollipop graphs to learn from.", min=20)] = 600,
    epochs: Annotated[int, typer.Option(help="Epochs of learning.", min=1)] = 15,
    runs: Annotated[int, typer.Option(help="Classifiers to train with and without augmentation.", min=0)] = 3,
    seed: Annotated[int, typer.Option(help="Seed of data and learning.")] = 0,
) -> None:
    """Learn edit costs on lollipop graphs, compare them with the paper's, draw an edit path, and train classifiers.

    A lollipop is a clique (head) with a chain (tail); its class is the size of the head. Learned costs should find that
    out: between classes, editing a head is dear and editing a tail cheap.
    """
    make_folder(out)
    from epic import EPIC
    from epic.data import lollipop
    from epic.paper.experiments.lollipop import PARTS, SIGNS, pattern, rows

    train, unseen = lollipop(graphs, seed=seed), lollipop(120, seed=seed + 1)
    typer.echo(f"{len(train)} lollipop graphs to learn from, {len(unseen)} unseen ones to look at")
    augment = EPIC(seed=seed).fit(train, epochs=epochs, seed=seed, progress=progress())

    typer.echo("\nMean substitution cost on unseen graphs, the largest set to 1 (paper: appendix C)")
    costs = [
        (SIGNS[sign], PARTS[part], "-" if printed is None else f"{printed:.2f}", f"{measured:.2f}")
        for sign, part, printed, measured in rows(pattern(augment.cost_, unseen))
    ]
    show(("pair", "nodes", "paper", "here"), costs)

    model, picture, page = out / "lollipop.safetensors", out / "path.png", out / "path.html"
    augment.save(model)
    source = unseen[0]
    target = next(g for g in unseen if int(g.y) == 2)
    path = augment.path(source, target, seed=seed)
    path.plot(steps=6, path=picture)
    path.save(page)
    typer.echo(f"\n{path}")
    for operation in path.operations[:4]:
        typer.echo(f"  {operation}")
    typer.echo(f"  ... and {len(path) - 4} more")
    typer.echo(f"\nwrote {model} (load it with epic.EPIC.load), {picture} and {page} (open it in a browser)")
    if runs:
        _train(runs, seed)


def _train(runs: int, seed: int) -> None:
    """GIN on few lollipops with many wrong labels, plainly and with EPIC."""
    from dataclasses import replace

    import torch

    from epic import EPIC
    from epic.data import Dataset, Split, corrupt, lollipop
    from epic.graphs.convert import pack
    from epic.train import Training, train
    from epic.train.loop import with_features

    learning, validation, test = 80, 40, 120
    noisy = learning + validation
    graphs = pack(lollipop(noisy, seed=seed + 2) + lollipop(test, seed=seed + 1))
    assert graphs.y is not None
    graphs = replace(graphs, y=corrupt(graphs.y, share=WRONG, index=torch.arange(noisy), seed=seed))
    split = Split(torch.arange(learning), torch.arange(learning, noisy), torch.arange(noisy, noisy + test))
    graphs = with_features(graphs, split.train)
    data = Dataset("lollipop", graphs, "classes")
    typer.echo(
        f"\nGIN from {learning} training and {validation} validation graphs, {WRONG:.0%} of their labels wrong; "
        f"accuracy in percent on {test} clean ones"
    )
    scores: list[list[float]] = []
    for number in range(seed, seed + runs):
        options = Training(epochs=40, batch_size=32, seed=number)
        method = EPIC(seed=number, degree_features=True).fit(graphs.select(split.train), seed=number, progress=False)
        results = [train(data, split=split, method=m, options=options, progress=progress()) for m in (None, method)]
        scores.append([100 * result.test for result in results])
    means = [sum(column) / runs for column in zip(*scores, strict=True)]
    names = [*map(str, range(seed, seed + runs)), "mean"]
    rows = [[name, *(f"{s:.1f}" for s in row)] for name, row in zip(names, [*scores, means], strict=True)]
    show(("seed", "vanilla", "epic"), rows)
    typer.echo("A toy and few runs: `epic compare` tells on your own graphs, with an interval.")
