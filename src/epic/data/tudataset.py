"""Graphs in TUDataset's text format (Morris et al. 2020)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from epic.data.collection import Collection, integers
from epic.data.dataset import Dataset, task_of
from epic.data.label_map import read_label_map
from epic.errors import InputError
from epic.graphs.packed import PackedGraphs, offsets
from epic.labels import typed

MOST_NUMBERS = 1 << 28
"""Numbers in a matrix of one-hot labels, at most."""
URL = "https://www.chrsmrrs.com/graphkerneldatasets"
# Classification sets of the collection, to tell a misspelt name from one worth downloading. Not checked against its
# site; any other set works from a folder. Its regression sets have no graph labels, so they are left out.
NAMES = tuple(
    """
    AIDS BZR BZR_MD COX2 COX2_MD DHFR DHFR_MD ER_MD FRANKENSTEIN
    MCF-7 MCF-7H MOLT-4 MOLT-4H Mutagenicity MUTAG NCI1 NCI109 NCI-H23 NCI-H23H OVCAR-8 OVCAR-8H P388 P388H
    PC-3 PC-3H PTC_FM PTC_FR PTC_MM PTC_MR SF-295 SF-295H SN12C SN12CH SW-620 SW-620H UACC257
    UACC257H Yeast YeastH DD ENZYMES KKI OHSU Peking_1 PROTEINS
    PROTEINS_full COIL-DEL COIL-RAG Cuneiform Fingerprint FIRSTMM_DB Letter-high Letter-low Letter-med MSRC_9 MSRC_21
    MSRC_21C COLLAB dblp_ct1 dblp_ct2 DBLP_v1 deezer_ego_nets facebook_ct1 facebook_ct2 github_stargazers
    highschool_ct1 highschool_ct2 IMDB-BINARY IMDB-MULTI infectious_ct1 infectious_ct2 mit_ct1 mit_ct2 REDDIT-BINARY
    REDDIT-MULTI-5K REDDIT-MULTI-12K reddit_threads tumblr_ct1 tumblr_ct2 twitch_egos TWITTER-Real-Graph-Partial
    COLORS-3 SYNTHETIC SYNTHETICnew Synthie TRIANGLES
    """.split()
)


def read_tu(folder: str | Path, name: str) -> PackedGraphs:
    """Read ``<folder>/<name>/raw/<name>_*.txt``, or ``<folder>/<name>_*.txt``, as they are published.

    Repeated edges are merged and self-loops dropped. Node counts come from the graph indicator, so isolated nodes stay.
    Node attributes are left out, as in the paper.

    Args:
        folder: The folder of a dataset, or of all datasets.
        name: The name of the dataset.

    Returns:
        Graphs whose ``x`` and ``edge_attr`` are one-hot node and edge labels (absent if the set has none). Class labels
        become 0, 1, ... in rising order.

    Raises:
        InputError: If a file is missing or damaged.
    """
    inner = Path(folder) / name / "raw"
    root = next((p for p in (inner, Path(folder)) if (p / f"{name}_A.txt").is_file()), None)
    if root is None:
        raise InputError(f"there is no {name}_A.txt in {inner} or {folder}")
    owner = _numbers(root / f"{name}_graph_indicator.txt")[:, 0] - 1
    y = _numbers(root / f"{name}_graph_labels.txt")[:, 0]
    graphs, nodes = len(y), len(owner)
    if nodes == 0 or owner.min() < 0 or owner.max() >= graphs or (np.diff(owner) < 0).any():
        raise InputError(f"{root / name}_graph_indicator.txt does not number the {graphs} graphs in order from 1")
    edges = _numbers(root / f"{name}_A.txt", columns=2) - 1
    if edges.size and (edges.min() < 0 or edges.max() >= nodes):
        raise InputError(f"{root / name}_A.txt names node {int(edges.max()) + 1}, but there are {nodes}")
    across = owner[edges[:, 0]] != owner[edges[:, 1]]
    if across.any():
        line = int(across.nonzero()[0][0]) + 1
        raise InputError(f"{root / name}_A.txt, line {line}: an edge joins two graphs")
    key, first = np.unique(edges[:, 0] * nodes + edges[:, 1], return_index=True)
    loop = key // nodes == key % nodes
    key, first = key[~loop], first[~loop]
    edge_index = torch.from_numpy(np.stack([key // nodes, key % nodes]))
    node, edge = {}, {}
    if (root / f"{name}_node_labels.txt").is_file():
        node["x"] = _one_hot(root / f"{name}_node_labels.txt", nodes)
    if (root / f"{name}_edge_labels.txt").is_file():
        edge["edge_attr"] = _one_hot(root / f"{name}_edge_labels.txt", len(edges))[torch.from_numpy(first)]
    return PackedGraphs(
        offsets(torch.from_numpy(np.bincount(owner, minlength=graphs))),
        offsets(torch.from_numpy(np.bincount(owner[edge_index[0].numpy()], minlength=graphs))),
        edge_index,
        node,
        edge,
        torch.from_numpy(np.unique(y, return_inverse=True)[1]),
    )


def _numbers(path: Path, columns: int | None = None) -> np.ndarray:
    if not path.is_file():
        raise InputError(f"{path} is missing")
    return integers(path.read_bytes(), path, columns)


def _one_hot(path: Path, rows: int) -> Tensor:
    labels = _numbers(path)
    if len(labels) != rows:
        raise InputError(f"{path} has {len(labels)} lines, expected {rows}")
    codes = [np.unique(c, return_inverse=True) for c in labels.T]
    width = sum(len(values) for values, _ in codes)
    if rows * width > MOST_NUMBERS:
        raise InputError(f"{path} has {width} different labels for {rows} rows: one-hot they would not fit in memory")
    return torch.cat([F.one_hot(torch.from_numpy(c)) for _, c in codes], dim=1).float()


def read_tu_set(folder: Path, name: str, task: str = "classes") -> Dataset:
    """Read a set with what its files say about labels.

    Args:
        folder: The folder of its files.
        name: The name of the set.
        task: What its labels are, one of :data:`epic.labels.TASKS`.
    """
    graphs = read_tu(folder, name)
    atoms, bonds = read_label_map(folder, name)
    task = task_of(graphs.labels, name, task)
    return Dataset(name, replace(graphs, y=typed(graphs.labels, task)), task, atoms=atoms, bonds=bonds)


COLLECTION = Collection(
    folder="tu",
    names=NAMES,
    url=lambda name: f"{URL}/{name}.zip",
    directory=str,
    mark=lambda name: f"{name}_A.txt",
    files=("*.txt",),
    read=read_tu_set,
)
