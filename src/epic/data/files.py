"""Graphs in files: our own safetensors form, and PyTorch files of PyG graphs, read without running their code."""

from __future__ import annotations

import pickle
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from epic.errors import InputError
from epic.files import read_tensors, tensor_bytes, write_bytes
from epic.pack import Pack
from epic.packing import check_pack, pack

FORM = "epic-graphs/1"


def write_graphs(path: str | Path, graphs: Pack, **header: object) -> None:
    """Write packed graphs as safetensors; ``header`` takes any JSON values."""
    write_bytes(path, graph_bytes(graphs, **header))


def graph_bytes(graphs: Pack, **header: object) -> bytes:
    """The contents of such a file."""
    tensors: dict[str, Tensor] = {"ptr": graphs.ptr, "edge_ptr": graphs.edge_ptr, "edge_index": graphs.edge_index}
    tensors |= {f"node.{k}": v for k, v in graphs.node.items()} | {f"edge.{k}": v for k, v in graphs.edge.items()}
    if graphs.y is not None:
        tensors["y"] = graphs.y
    return tensor_bytes(tensors, {"format": FORM, **header})


def read_graphs(path: str | Path, check: bool = True) -> tuple[Pack, dict]:
    """Read packed graphs and their header."""
    tensors, header = read_tensors(path, FORM)
    try:
        graphs = Pack(
            tensors["ptr"],
            tensors["edge_ptr"],
            tensors["edge_index"],
            {k[5:]: v for k, v in tensors.items() if k.startswith("node.")},
            {k[5:]: v for k, v in tensors.items() if k.startswith("edge.")},
            tensors.get("y"),
        )
    except KeyError as error:
        raise InputError(f"{path} lacks {error}: write it again with write_graphs") from error
    if check:
        check_pack(graphs)
    return graphs, header


def read_pt(path: str | Path) -> Pack:
    """Read a list of PyG graphs saved with ``torch.save``.

    Only tensors and PyG's own types are accepted, never arbitrary pickles.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    try:
        with torch.serialization.safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]):
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{path} holds more than tensors and PyG graphs, and is not opened: save a plain list of Data "
            "with torch.save"
        ) from error
    except (RuntimeError, EOFError, OSError, KeyError, ValueError) as error:
        raise InputError(f"{path} is damaged or not a PyTorch file ({error})") from error
    if isinstance(loaded, Data):
        loaded = [loaded]
    if not isinstance(loaded, (list, tuple)):
        raise InputError(f"{path} holds a {type(loaded).__name__}, not a list of PyG graphs")
    return pack(loaded)
