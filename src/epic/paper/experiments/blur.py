"""The paper's appendix A: how far is the Sinkhorn assignment from the exact one after k iterations?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from epic.costs.base import Cost
from epic.distance.pairs import Pairs, embed_all, mean_substitution, padded_blocks
from epic.graphs.convert import pack
from epic.graphs.packed import Graphs
from epic.matching.exact import assign_batch
from epic.matching.sinkhorn import sinkhorn
from epic.matching.types import PairCosts
from epic.random import Seed, base_seed, derived, uniform


@torch.no_grad()
def frobenius(
    cost: Cost, graphs: Graphs, *, pairs: int = 1000, iterations: Sequence[int] = range(1, 11), seed: Seed = 0
) -> dict[int, float]:
    """Average the norm of the difference between soft and exact assignment over random pairs, by iterations.

    The assignment is the n x m matrix of substitutions together with the deleted and the inserted shares, blurred as in
    learning: a tenth of a pair's mean substitution cost.
    """
    packed = pack(graphs)
    nodes = embed_all(cost, packed)
    count = len(packed)
    generator = derived(base_seed(seed), "blur")
    i = (uniform(pairs, generator) * count).long()
    j = (i + 1 + (uniform(pairs, generator) * (count - 1)).long()) % count
    total = dict.fromkeys(iterations, 0.0)
    for block in padded_blocks(Pairs(cost, source=nodes, target=nodes, i=i, j=j)):
        plan, deleted, inserted = _exact(block)
        for k in iterations:
            soft = sinkhorn(
                block.substitution,
                block.deletion,
                block.insertion,
                delta=0.1 * mean_substitution(block),
                iterations=k,
                rows=block.rows,
                columns=block.columns,
            )
            square = ((soft.plan - plan) ** 2).sum((1, 2))
            square += ((soft.deleted - deleted).square() * (deleted >= 0)).sum(1)
            square += ((soft.inserted - inserted).square() * (inserted >= 0)).sum(1)
            total[k] += float(square.sqrt().sum())
    return {k: v / pairs for k, v in total.items()}


def _exact(block: PairCosts) -> tuple[Tensor, Tensor, Tensor]:
    """Return the exact assignment as 0/1 tensors; -1 marks padding."""
    found = assign_batch(block.substitution, block.deletion, block.insertion, rows=block.rows, columns=block.columns)
    n, m = block.substitution.shape[1:]
    plan = torch.zeros_like(block.substitution)
    pair, row = (found.match >= 0).nonzero(as_tuple=True)
    plan[pair, row, found.match[pair, row]] = 1
    deleted, inserted = 1 - plan.sum(2), 1 - plan.sum(1)
    deleted[torch.arange(n) >= block.rows[:, None]] = -1
    inserted[torch.arange(m) >= block.columns[:, None]] = -1
    return plan, deleted, inserted


def blur_run(
    dataset: str, *, costs: Path, data: str | None = None, epochs: int = 40, pairs: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """Run :func:`frobenius` on the test graphs of a dataset, under the cost learned on its training graphs."""
    from epic.train.config import CostConfig, run_config
    from epic.train.run import cost_of, dataset_of

    loaded, split = dataset_of(run_config(dataset=dataset), data)
    cost, _ = cost_of(CostConfig(epochs=epochs), loaded, split, seed, costs, progress=False)
    found = frobenius(cost, loaded.graphs.select(split.test), pairs=pairs, seed=seed)
    return {"pairs": pairs, "frobenius": {str(k): v for k, v in found.items()}, "data": loaded.graphs.digest()}
