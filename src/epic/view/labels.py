"""Which label a node carries, for its colour and its letter."""

from __future__ import annotations

import numpy as np
from torch_geometric.data import Data

from epic.graphs.packed import matrix


def node_labels(data: Data) -> np.ndarray | None:
    """The class of each node: the place of the first 1 in one-hot features, the first column of integer ones; None
    where features are absent or real values.

    >>> import torch
    >>> node_labels(Data(x=torch.tensor([[0.0, 1.0], [1.0, 0.0]]))).tolist()
    [1, 0]
    """
    if data.get("x") is None:
        return None
    x = matrix(data.x).cpu().numpy()
    if x.shape[1] == 0:
        return None
    if x.shape[1] > 1 and bool(((x == 0) | (x == 1)).all()) and bool((x.sum(1) > 0).all()):
        return x.argmax(1)
    return None if x.dtype.kind == "f" else x[:, 0].astype(np.int64)
