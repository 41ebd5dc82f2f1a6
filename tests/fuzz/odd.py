"""Odd values: what a graph or a file may hold instead of what belongs there."""

import copy

import numpy as np
import torch
from torch_geometric.data import Data

from epic.testing import random_graph

JSON = [
    None,
    True,
    -1,
    0,
    1,
    3,
    10**12,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "abc",
    "x" * 999,
    [],
    [[]],
    {},
    {"a": 1},
]
"""Values for any place of a JSON document."""
DTYPES = [
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint64),
    *(torch.half, torch.bfloat16, torch.float, torch.double, torch.cfloat, torch.float8_e5m2),
]
SOUND = {
    None: (None, None, None),
    "float": (torch.float, torch.double, torch.half),
    "int": (torch.int64, torch.uint8, torch.int16),
    "onehot": (torch.float, torch.bool, torch.bfloat16),
}
"""Types of numbers that features of each kind may have."""


def graphs(rng, count, *, least=0, most=7, **kind):
    """Graphs of ``least`` to ``most`` nodes with the same attributes, of every kind that is allowed."""
    kind = {
        "x": [None, "float", "int", "onehot"][rng.integers(4)],
        "edge_width": [None, 0, 1, 2][rng.integers(4)],
        "density": [0.1, 0.4, 0.9][rng.integers(3)],
        "directed": bool(rng.random() < 0.3),
        "loops": bool(rng.random() < 0.3),
        **kind,
    }
    made = [
        random_graph(rng, int(rng.integers(least, most + 1)), y=[int(rng.integers(3))], **kind) for _ in range(count)
    ]
    dtype, edge_dtype = SOUND[kind["x"]][rng.integers(3)], SOUND["float"][rng.integers(3)]
    for g in made:
        if g.edge_attr is not None:
            g.edge_attr = g.edge_attr.round().to(edge_dtype)  # some are equal
        if g.x is not None:
            g.x = g.x.to(dtype)
    return made


def value(rng):
    """Anything that an attribute may be."""
    shape = [int(n) for n in rng.integers(0, 5, rng.integers(0, 4))]
    numbers = rng.integers(-2, 6, shape)
    return [
        lambda: torch.as_tensor(numbers).to(DTYPES[rng.integers(len(DTYPES))]),
        lambda: torch.as_tensor(numbers),
        lambda: np.asarray(numbers),
        lambda: np.asarray(numbers, dtype=["f4", "i2", "U3", "c8", ">i4", "O"][rng.integers(6)]),
        lambda: np.asarray(numbers).tolist(),
        lambda: torch.as_tensor(numbers).float().to_sparse() if shape else None,
        lambda: torch.zeros(shape, device="meta"),
        lambda: torch.full(shape, [torch.nan, torch.inf, 1e30][rng.integers(3)]),
        lambda: torch.zeros(1).expand(*(shape or [1]), 1),
        lambda: _json(rng),
        lambda: {3},
        lambda: b"bytes",
    ][rng.integers(12)]()


def mutated_graph(rng, original):
    """A graph with some attributes replaced, cast, cut or added."""
    g = copy.copy(original)
    keys = ["x", "edge_index", "edge_attr", "y", "num_nodes", "pos", "edge_weight", "z", "batch", "ptr"]
    for _ in range(rng.integers(1, 3)):
        key = keys[rng.integers(len(keys))]
        old = g.get(key)
        g[key] = _changed(rng, old) if isinstance(old, torch.Tensor) and rng.random() < 0.5 else value(rng)
    return g


def _changed(rng, old):
    """The same tensor, cast, cut, turned, repeated or in another container, as far as its kind allows."""
    changes = [
        lambda: old.to(DTYPES[rng.integers(len(DTYPES))]),
        lambda: old[:-1] if old.dim() else old,
        lambda: old.T if old.dim() == 2 else old,
        lambda: old.tolist(),
        lambda: old.numpy()[::-1],
        lambda: torch.cat([old, old]) if old.dim() else old,
        lambda: old - 1 if old.dtype != torch.bool else old,
    ]
    try:
        return changes[rng.integers(len(changes))]()
    except Exception:
        return old  # torch cannot do that to sparse tensors or tensors on meta


def _json(rng):
    """A value of JSON, new: what is edited in one case must not come up in the next."""
    return copy.deepcopy(JSON[rng.integers(len(JSON))])


def edit_json(rng, document):
    """The same document with one place replaced, removed or moved."""
    document = copy.deepcopy(document)
    places = list(_places(document, []))
    if not places:
        return _json(rng)
    for _ in range(rng.integers(1, 3)):
        path = places[rng.integers(len(places))]
        holder = document
        try:
            for step in path[:-1]:
                holder = holder[step]
            if rng.random() < 0.2:
                del holder[path[-1]]
            else:
                holder[path[-1]] = _json(rng)
        except (LookupError, TypeError):
            pass  # an edit before this one removed the place
    return document


def _places(node, path):
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in items:
        yield [*path, key]
        yield from _places(inner, [*path, key])


def edit_tensors(rng, tensors):
    """The same tensors with some missing, added, renamed, swapped, reshaped, cast or filled with other numbers."""
    tensors = dict(tensors)
    for _ in range(rng.integers(1, 3)):
        if not tensors:
            tensors["new"] = torch.zeros(2)
        name, other = (sorted(tensors)[rng.integers(len(tensors))] for _ in range(2))
        old = tensors[name]
        kind = rng.integers(9)
        if kind == 0:
            del tensors[name]
        elif kind == 1:
            tensors[["more", f"{name}.more", "node.z", "edge.z", "y"][rng.integers(5)]] = old.clone()
        elif kind == 2:
            tensors[name], tensors[other] = tensors[other], old
        elif kind == 3:
            tensors[name] = old.reshape(-1)[: rng.integers(0, old.numel() + 1)].clone()
        elif kind == 4:
            tensors[name] = old.to(DTYPES[rng.integers(len(DTYPES) - 2)])
        elif kind == 5:
            tensors[name] = old.unsqueeze(int(rng.integers(0, old.dim() + 1)))
        elif kind == 6:
            far = [-1, 1, 10**6, 10**12, 2**62][rng.integers(5)]
            tensors[name] = torch.full_like(old, far if old.dtype == torch.int64 else far % 100)
        elif kind == 7 and old.is_floating_point():
            tensors[name] = old * [torch.nan, torch.inf, 0.0, -1.0][rng.integers(4)]
        elif old.dtype == torch.int64 and old.numel():
            old = old.clone()
            old.view(-1)[int(rng.integers(old.numel()))] = [-1, 10**6, 10**12, 2**62][rng.integers(4)]
            tensors[name] = old
    return {k: v.clone() for k, v in tensors.items()}


def edit_bytes(rng, raw):
    """The same bytes with some flipped, cut or repeated."""
    raw = bytearray(raw)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(raw) + 1))
        kind = rng.integers(4)
        if kind == 0 and at < len(raw):
            raw[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del raw[at:]
        elif kind == 2:
            raw[at:at] = raw[at : at + int(rng.integers(1, 50))]
        else:
            raw[at : at + int(rng.integers(1, 20))] = rng.integers(
                0, 256, int(rng.integers(0, 9)), dtype=np.uint8
            ).tobytes()
    return bytes(raw)


WORDS = [
    "",
    " ",
    "-1",
    "0",
    "1",
    "2",
    "999999999999",
    "9" * 30,
    "1.5",
    "nan",
    "x",
    ",",
    "\n",
    "\r",
    "\0",
    '"',
    "'",
    "\u00e9",
]


def edit_text(rng, text):
    """The same text with some words replaced or added, and now and then a very long one."""
    parts = text.split(",") if rng.random() < 0.5 else text.split("\n")
    joint = "," if len(parts) > 1 and "\n" in "".join(parts) else "\n"
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(parts)))
        word = WORDS[rng.integers(len(WORDS))] if rng.random() < 0.98 else "C" * 140_000
        parts[at : at + int(rng.integers(0, 2))] = [word]
    return joint.join(parts)


def plain_graph(g):
    """What a graph says, by numpy alone: nodes, edges, x and labels as nested lists."""
    assert isinstance(g, Data)
    stored = g.to_dict()
    edges = stored.get("edge_index")
    edges = edges.long() if isinstance(edges, torch.Tensor) else edges  # numpy has no bfloat16
    edges = [[], []] if edges is None else np.asarray(edges).astype(int).tolist()
    x = None if stored.get("x") is None else _floats(stored["x"])
    return edges, x


def _floats(values):
    return values.double().tolist() if isinstance(values, torch.Tensor) else np.asarray(values, dtype=float).tolist()
