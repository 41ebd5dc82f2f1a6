"""Graphs in files: our own safetensors format, and PyTorch files of PyG graphs, read without running their code."""

from __future__ import annotations

import json
import pickle
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.data.batch import DynamicInheritanceGetter
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.separate import separate
from torch_geometric.data.storage import AttrType, GlobalStorage

from epic._io import read_tensors, tensor_bytes, write_bytes
from epic.errors import InputError, reading
from epic.graphs.checks import check_pack
from epic.graphs.convert import pack
from epic.graphs.packed import ABOUT, PackedGraphs, entries

FORM = "epic-graphs/1"


def write_graphs(path: str | Path, graphs: PackedGraphs, **header: object) -> None:
    """Write packed graphs as safetensors, with what readers of files told about each: row, name, SMILES, class names.

    Args:
        path: The file.
        graphs: The graphs.
        header: JSON values to keep with them.
    """
    write_bytes(path, graph_bytes(graphs, **header))


def graph_bytes(graphs: PackedGraphs, **header: object) -> bytes:
    """Return the contents of such a file."""
    tensors: dict[str, Tensor] = {"ptr": graphs.ptr, "edge_ptr": graphs.edge_ptr, "edge_index": graphs.edge_index}
    tensors |= {f"node.{k}": v for k, v in graphs.node.items()} | {f"edge.{k}": v for k, v in graphs.edge.items()}
    if graphs.y is not None:
        tensors["y"] = graphs.y
    if told := _told(graphs):  # as a tensor: the header of a file is bounded, and a million names would not fit
        tensors["about"] = torch.frombuffer(bytearray(json.dumps(told).encode()), dtype=torch.uint8)
    return tensor_bytes(tensors, {"format": FORM, **header})


def read_graphs(path: str | Path) -> tuple[PackedGraphs, dict[str, Any]]:
    """Read what :func:`write_graphs` wrote.

    Args:
        path: The file.

    Returns:
        The graphs, and the header.

    Raises:
        InputError: If the file is missing or damaged, or holds something else.
    """
    tensors, header = read_tensors(path, FORM)
    with reading(path, "write it again with write_graphs"):
        rows: dict[str, dict[str, Tensor]] = {"node": {}, "edge": {}}
        for key in [k for k in tensors if "." in k]:
            part, _, name = key.partition(".")
            rows[part][name] = tensors.pop(key)
        text = tensors.pop("about", None)  # older files have none
        graphs = PackedGraphs(**tensors, **rows)  # type: ignore[arg-type]
        check_pack(graphs)
        if text is not None:
            graphs = replace(graphs, per_graph=_read_told(bytes(text.to(torch.uint8).numpy()), len(graphs)))
    return graphs, header


KINDS: dict[str, Any] = {"row": int, "name": (str, type(None)), "smiles": str, "class_names": (list, tuple)}
"""What :data:`epic.graphs.packed.ABOUT` holds of each graph."""


def _is_told(key: str, value: object) -> bool:
    texts = value if key == "class_names" and isinstance(value, (list, tuple)) else ()
    return isinstance(value, KINDS[key]) and all(isinstance(text, str) for text in texts)


def _told(graphs: PackedGraphs) -> dict[str, list]:
    """Return what is known of graphs by name; what is the same for all, such as names of classes, stands once."""
    told = {k: graphs.per_graph[k].tolist() for k in ABOUT if k in graphs.per_graph}
    return {
        key: values[:1] if all(v == values[0] for v in values) else values
        for key, values in told.items()
        if values and all(_is_told(key, v) for v in values)  # others may use the same words for something else
    }


def _read_told(text: bytes, count: int) -> dict[str, np.ndarray]:
    """Read what :func:`_told` gave."""
    told = json.loads(text)
    if not isinstance(told, dict):
        raise InputError("what is told about graphs is no table")
    found = {}
    for key, values in told.items():
        if key not in KINDS or not isinstance(values, list) or not all(_is_told(key, v) for v in values):
            raise InputError(f"what is told about graphs holds {key!r} of another kind")
        values = [tuple(v) if isinstance(v, list) else v for v in values] * (count if len(values) == 1 else 1)
        if len(values) != count:
            raise InputError(f"there are {len(values)} entries of {key!r} for {count} graphs")
        found[key] = entries(values)
    return found


def read_pt(path: str | Path) -> PackedGraphs:
    """Return PyG graphs that were saved with ``torch.save``.

    The file holds a list of ``Data``, one ``Data``, a ``Batch``, or what ``InMemoryDataset.save`` writes. Only tensors
    and PyG's own types are accepted, never arbitrary pickles.

    Raises:
        InputError: If the file is missing or damaged, or holds anything else.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    _check_stored(path)
    try:
        with _graphs_allowed():
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        named = re.search(r"GLOBAL (\S+)", str(error))
        raise InputError(
            f"{path} holds {named[1] if named else 'more than graphs'} and is not opened: only tensors, numbers, text "
            "and PyG's Data and Batch are read. Leave it out or turn it into a tensor, and save again"
        ) from error
    except Exception as error:  # a damaged file can make any line of torch fail with any error
        raise InputError(f"{path} is damaged or not a PyTorch file ({type(error).__name__}: {error})") from error
    if isinstance(loaded, tuple) and 2 <= len(loaded) <= 4 and (loaded[1] is None or isinstance(loaded[1], dict)):
        loaded = _separated(path, *loaded[:2])
    if not isinstance(loaded, (Data, list, tuple)):
        raise InputError(f"{path} holds a {type(loaded).__name__}, not a list of PyG graphs")
    with reading(path):
        for graph in [loaded] if isinstance(loaded, Data) else loaded:
            if isinstance(graph, Data):
                graph._store.__dict__.pop("_cached_attr", None)  # it came as a plain dict; PyG makes it again
                _check_size(graph, path.stat().st_size)
        return pack(loaded)


def _check_stored(path: Path) -> None:
    """Refuse a file whose parts would be larger in memory than on the disk: torch writes them as they are."""
    try:
        with zipfile.ZipFile(path) as file:
            said = sum(member.file_size for member in file.infolist())
    except Exception:  # not a zip: the format of torch before 1.6, or a file that torch will refuse
        return
    if said > path.stat().st_size:
        raise InputError(f"{path} claims to hold {said} bytes, more than its size: save it again with torch.save")


def _check_size(graph: Data, size: int) -> None:
    """Refuse tensors that repeat what is stored once: they would grow beyond the size of the file."""
    for key, value in graph.to_dict().items():
        if isinstance(value, Tensor) and value.layout == torch.strided and value.numel() > size:
            raise InputError(f"{key} claims {value.numel()} numbers in a file of {size} bytes")


@wraps(defaultdict, updated=())
def _plain_dict(*_: object) -> dict:
    """Replace the defaultdict in which PyG remembers the kinds of attributes: torch fills plain dicts only."""
    return {}


def _new_batch(cls: type, base: type) -> Batch:
    """Begin a saved batch. PyG's own way would make a class of whatever the file names."""
    if (cls, base) != (Batch, Data):
        raise pickle.UnpicklingError(f"GLOBAL {base.__name__}")
    return Batch(_base_cls=Data)


@wraps(DynamicInheritanceGetter, updated=())
class _BatchMaker:
    """Replace the object that a file of a batch calls: torch calls only functions that are allowed."""

    def __new__(cls) -> Any:
        return _new_batch


_ALLOWED: list[Any] = [
    *(Data, DataEdgeAttr, DataTensorAttr, GlobalStorage, AttrType, _plain_dict),
    *(Batch, type(Batch(_base_cls=Data)), _BatchMaker, _new_batch),
]


@contextmanager
def _graphs_allowed() -> Iterator[None]:
    """Let torch read graphs, and restore afterwards what it may read."""
    before = torch.serialization.get_safe_globals()
    torch.serialization.clear_safe_globals()
    torch.serialization.add_safe_globals([g for g in before if g not in (defaultdict, HeteroData)] + _ALLOWED)
    try:
        yield
    finally:
        torch.serialization.clear_safe_globals()
        torch.serialization.add_safe_globals(before)


def _separated(path: Path, joined: Any, slices: dict[str, Tensor] | None) -> list[Data]:
    """Split what PyG's ``InMemoryDataset`` saves: all graphs laid end to end, and where each begins."""
    try:
        whole = joined if isinstance(joined, Data) else Data.from_dict(joined)
        if slices is None:
            return [whole]
        count = len(next(iter(slices.values()))) - 1
        graphs = [separate(Data, whole, i, slices, decrement=False) for i in range(count)]
    except Exception as error:
        raise InputError(f"{path} holds a tuple that is no dataset of PyG: save a list of Data") from error
    if "num_nodes" in whole and "x" not in whole:
        # PyG saves only the sum: so we can tell whether there are isolated nodes, but not in which graphs.
        for graph in graphs:
            graph.num_nodes = int(graph.edge_index.max()) + 1 if graph.num_edges else 0
        if sum(graph.num_nodes for graph in graphs) != whole.num_nodes:
            raise InputError(f"{path} does not say where isolated nodes are: give graphs x, or save a list of Data")
    return graphs
