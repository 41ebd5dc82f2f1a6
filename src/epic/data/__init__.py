"""Graphs to learn from."""

from epic.data.catalog import load
from epic.data.chemistry import Chemistry, molecule_of
from epic.data.dataset import Dataset
from epic.data.files import read_graphs, read_pt, write_graphs
from epic.data.lollipop import lollipop, lollipop_graph
from epic.data.noise import corrupt
from epic.data.ogb import read_ogb
from epic.data.shards import Shards
from epic.data.smiles import molecule, read_smiles
from epic.data.splits import Split, stratified_folds, stratified_split
from epic.data.tudataset import read_tu

__all__ = [
    "Chemistry",
    "Dataset",
    "Shards",
    "Split",
    "corrupt",
    "load",
    "lollipop",
    "lollipop_graph",
    "molecule",
    "molecule_of",
    "read_graphs",
    "read_ogb",
    "read_pt",
    "read_smiles",
    "read_tu",
    "stratified_folds",
    "stratified_split",
    "write_graphs",
]
