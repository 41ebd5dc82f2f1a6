"""``epic datasets``: what there is."""

from __future__ import annotations

import typer

from epic.cli.options import DataFolder

# Graphs, mean nodes and mean edges of the sets that the paper uses.
PAPER = {
    "NCI1": (4110, 29.87, 32.30, "2 classes, 37 node labels"),
    "BZR": (405, 35.75, 38.36, "2 classes, 10 node labels"),
    "COX2": (467, 41.22, 43.45, "2 classes, 8 node labels"),
    "Mutagenicity": (4337, 30.32, 30.77, "2 classes, 14 node and 3 edge labels"),
    "IMDB-BINARY": (1000, 19.77, 96.53, "2 classes, structure only"),
    "IMDB-MULTI": (1500, 13.00, 65.94, "3 classes, structure only"),
    "PROTEINS": (1113, 39.06, 72.82, "2 classes, 3 node labels"),
    "ENZYMES": (600, 32.63, 62.14, "6 classes, 3 node labels"),
    "ogbg-molbbbp": (2039, 24.06, 25.95, "molecules, 1 task, scaffold split"),
    "ogbg-molbace": (1513, 34.09, 36.86, "molecules, 1 task, scaffold split"),
    "ogbg-molhiv": (41127, 25.51, 27.47, "molecules, 1 task, scaffold split"),
    "lollipop": (600, 11.41, 18.91, "4 classes, generated"),
}


def datasets(data: DataFolder = None) -> None:
    """List the datasets that epic knows, and which of them are here."""
    from epic.data.catalog import is_here, known_names

    typer.echo(f"{'name':<16}{'graphs':>8}{'nodes':>8}{'edges':>8}  {'here':<6}what")
    for name, (graphs, nodes, edges, what) in PAPER.items():
        here = "yes" if is_here(name, data) else "no"
        typer.echo(f"{name:<16}{graphs:>8}{nodes:>8.1f}{edges:>8.1f}  {here:<6}{what}")
    others = [n for n in known_names() if n not in PAPER]
    here_too = [n for n in others if is_here(n, data)]
    typer.echo(f"\nAlso here: {', '.join(here_too) or 'none'}")
    typer.echo(f"Also known, downloaded when asked for: {', '.join(n for n in others if n not in here_too)}")
    typer.echo(
        "Your own: a CSV of SMILES and labels, a .pt list of PyG graphs, a .safetensors file, a folder in TU format."
    )
