"""``epic datasets``: what there is."""

from __future__ import annotations

import typer

from epic.cli.messages import show
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

    here = {name: is_here(name, data) for name in known_names()}
    rows = [
        (name, f"{graphs}", f"{nodes:.1f}", f"{edges:.1f}", "yes" if here[name] else "no", what)
        for name, (graphs, nodes, edges, what) in PAPER.items()
    ]
    show(("name", "graphs", "nodes", "edges", "here", "what"), rows)
    also, known = ([n for n in here if n not in PAPER and here[n] is there] for there in (True, False))
    typer.echo(f"\nAlso here: {', '.join(also) or 'none'}")
    typer.echo(f"Also known, downloaded when asked for: {', '.join(known)}")
    typer.echo(
        "Your own: molecules and labels (.csv, .tsv, .smi, .sdf), a .pt list of PyG graphs, a .safetensors file, a "
        "folder in TU format."
    )
