"""The number of threads that small networks are fastest with: one.

OpenMP's threads wait for each other by spinning. Where another process wants a core, each of the many small steps of a
small network then waits for a whole time slice. On two cores with one more process on each, an epoch of learning a cost
takes 3.6 s with two threads and 1.3 s with one (``benchmarks/threads.py``); with six more processes it was twenty times
as long. On an idle machine there is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

LARGE = 500_000
"""Parameters from which on a network is left as many threads as torch has: its products are worth dividing."""


@contextmanager
def few_threads(model: nn.Module | None = None) -> Iterator[None]:
    """Use one thread inside, unless the model is large; torch's own setting is restored.

    Args:
        model: The network that is run inside; None for work that is always small.
    """
    before = torch.get_num_threads()
    if before > 1 and (model is None or sum(p.numel() for p in model.parameters()) < LARGE):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
