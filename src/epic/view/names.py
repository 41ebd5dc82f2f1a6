"""What the numbers in a graph are called: node labels, classes, atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_geometric.data import Data

from epic.data.chemistry import KNOWN, Chemistry, elements, is_ogb, node_labels
from epic.data.dataset import Dataset
from epic.data.label_map import SYMBOLS
from epic.errors import InputError
from epic.graphs.packed import matrix
from epic.view.style import COLOURS, ELEMENTS, OTHER_ELEMENT


@dataclass(frozen=True)
class Names:
    """What node labels and classes are called. What has no name is shown by its number.

    Args:
        nodes: Names of node labels, by number.
        class_names: Names of classes, by number.
        chemistry: Which atoms and bonds labels stand for. Graphs with OGB's atom features are recognised without it.
    """

    nodes: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()
    chemistry: Chemistry | None = None

    def class_name(self, number: int) -> str:
        """Return the name of a class."""
        return self.class_names[number] if number < len(self.class_names) else f"class {number}"


CLASSES = {"Mutagenicity": ("mutagen", "nonmutagen")}


def names_of(names: Names | str | None, class_names: tuple[str, ...] = ()) -> Names:
    """Return ``names``, the names of a dataset (``"Mutagenicity"``), or empty names.

    Classes that have no names are called by ``class_names``.
    """
    if isinstance(names, str):
        names = Names((), CLASSES.get(names, ()), KNOWN.get(names))
    elif names is None:
        names = Names()
    elif not isinstance(names, Names):
        raise InputError(f"names must be epic.view.Names or the name of a dataset, got {names!r}")
    return names if names.class_names else replace(names, class_names=class_names)


def dataset_names(dataset: Dataset, *, atoms: Sequence[str] = ()) -> Names:
    """Return what the labels of a dataset are called.

    Args:
        dataset: The dataset.
        atoms: The element of each node label, if the dataset does not know; further labels are unknown atoms.
    """
    known = Names(class_names=dataset.class_names)
    if dataset.atoms:
        known = replace(names_of(dataset.name, dataset.class_names), chemistry=Chemistry(dataset.atoms, dataset.bonds))
    elif _is_known(dataset):
        known = names_of(dataset.name, dataset.class_names)
    if not atoms:
        return known
    graph = dataset[0]
    x = None if node_labels(graph) is None else graph.get("x")
    if x is None or is_ogb(graph):
        has = "its atoms are known" if is_ogb(graph) else "it has no node labels"
        raise InputError(f"elements of node labels cannot be given for {dataset.name}: {has}")
    if wrong := [a for a in atoms if a not in SYMBOLS and a != "*"]:
        raise InputError(f"{wrong[0]!r} is no chemical element: write symbols such as C,N,O, and * for unknown atoms")
    labels = max(x.shape[1], 1) if x.is_floating_point() or x.shape[1] > 1 else len(atoms)
    if len(atoms) > labels:
        raise InputError(f"{dataset.name} has {labels} node labels, and {len(atoms)} elements were given")
    return replace(known, chemistry=Chemistry((*atoms, *"*" * (labels - len(atoms))), dataset.bonds))


def _is_known(dataset: Dataset) -> bool:
    """Return whether a dataset has the name of a known one and its node labels: a file of SMILES has not."""
    chemistry, x = KNOWN.get(dataset.name), dataset.graphs.x
    return chemistry is not None and x is not None and matrix(x).shape[1] == len(chemistry.atoms)


@dataclass(frozen=True)
class Tag:
    """How a node is shown: a short text, a colour, the full name of its label, and what else is known of an atom."""

    text: str
    fill: str
    name: str
    hydrogens: int = 0
    charge: int = 0
    flawed: bool = False


def tags(data: Data, names: Names) -> list[Tag | None]:
    """Return the tag of each node; None if nodes have no labels."""
    symbols = elements(data, names.chemistry)
    if symbols is not None:
        return [Tag(s, ELEMENTS.get(s, OTHER_ELEMENT), s) for s in symbols]
    labels = node_labels(data)
    if labels is None:
        return [None] * int(data.num_nodes or 0)
    named = dict(enumerate(names.nodes))
    texts = [(named[i][:2], named[i]) if i in named else (str(i), f"label {i}") for i in labels.tolist()]
    return [Tag(t, COLOURS[i % len(COLOURS)], name) for i, (t, name) in zip(labels.tolist(), texts, strict=True)]
