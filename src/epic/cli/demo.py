"""``epic demo``: the whole idea in about a minute, with no data to fetch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epic.cli.messages import progress, show, silent
from epic.cli.options import make_folder

if TYPE_CHECKING:
    from torch_geometric.data import Data

SIZES = (20, 40, 80, 160)
"""Numbers of training graphs of the learning curve."""
UNSEEN = 100


def demo(
    out: Annotated[Path, typer.Option(help="Folder for what the demo writes.")] = Path("demo"),
    graphs: Annotated[int, typer.Option(help="Lollipop graphs to learn from.", min=20)] = 600,
    epochs: Annotated[int, typer.Option(help="Epochs of learning.", min=1)] = 15,
    draws: Annotated[int, typer.Option(help="Draws of the learning curve; 0 leaves it out.", min=0)] = 3,
    seed: Annotated[int, typer.Option(help="Seed of data and learning.")] = 0,
) -> None:
    """Learn edit costs on lollipop graphs, compare them with the paper's, draw an edit path, and classify by distance.

    A lollipop is a clique (head) with a chain (tail); its class is the size of the head. Learned costs should find that
    out: between classes, editing a head is expensive and editing a tail cheap.
    """
    make_folder(out)
    from epic import EPIC, edit_path
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
    path = edit_path(source, target, augment.cost_, matching="edges", seed=seed)
    path.plot(steps=6, path=picture)
    path.save(page)
    typer.echo(f"\n{path}")
    for operation in path.operations[:4]:
        typer.echo(f"  {operation}")
    typer.echo(f"  ... and {len(path) - 4} more")
    typer.echo(f"\nwrote {model} (load it with epic.EPIC.load), {picture} and {page} (open it in a browser)")
    if draws:
        _curve(out / "curve.png", draws, seed)


def _curve(picture: Path, draws: int, seed: int) -> None:
    """Classify coloured lollipops by their nearest neighbour, with edits counted and with learned costs."""
    from statistics import mean, stdev

    from matplotlib.figure import Figure

    from epic import EditNeighbors, UnitCost
    from epic._io import write_figure

    typer.echo(
        f"\nNodes now have one of three colours, which mean nothing. Share of {UNSEEN} unseen graphs whose nearest "
        f"training graph is of their class, in percent, {draws} draws"
    )
    found: dict[str, list[list[float]]] = {"counted": [], "learned": []}
    for size in SIZES:
        for scores in found.values():
            scores.append([])
        for draw in range(draws):
            first = 1000 + seed + 2 * draw
            train, test = _coloured(size, first), _coloured(UNSEEN, first + 1)
            for name, cost in (("counted", UnitCost()), ("learned", None)):
                model = EditNeighbors(cost=cost, n_neighbors=1, seed=seed, progress=False)
                learning = {} if cost is not None else {"epochs": 15}
                with silent("epic.costs.verdict"):  # the table tells how good costs of few graphs are
                    found[name][-1].append(100 * model.fit(train, **learning).score(test))

    def told(scores: list[float]) -> str:
        return f"{mean(scores):.0f}" + (f" ({stdev(scores):.0f})" if len(scores) > 1 else "")

    rows = [[str(size), told(a), told(b)] for size, a, b in zip(SIZES, *found.values(), strict=True)]
    show(("training graphs", "edits counted", "edits learned"), rows)
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, scores in found.items():
        low, high = [min(s) for s in scores], [max(s) for s in scores]
        axes.plot(SIZES, [mean(s) for s in scores], marker="o", label=f"edits {name}")
        axes.fill_between(SIZES, low, high, alpha=0.2)
    axes.axhline(25, color="gray", linestyle=":", label="chance")
    axes.set(xscale="log", xticks=SIZES, xticklabels=SIZES, ylim=(0, 103))
    axes.set(xlabel="training graphs", ylabel="unseen graphs right (%)")
    axes.minorticks_off()
    axes.legend(loc="lower right")
    write_figure(picture, figure, dpi=150)
    typer.echo(f"wrote {picture}. Does augmentation help a network on your graphs? Ask `epic compare`.")


def _coloured(count: int, seed: int) -> list[Data]:
    """Return lollipops whose nodes have one of three colours at random."""
    import torch

    from epic.data import lollipop

    generator = torch.Generator().manual_seed(seed % 2**64)
    graphs = lollipop(count, seed=seed)
    for graph in graphs:
        graph.x = torch.eye(3)[torch.randint(3, (graph.num_nodes or 0,), generator=generator)]
    return graphs
