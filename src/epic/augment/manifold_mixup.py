"""Manifold Mixup: the vectors of whole graphs mixed in pairs."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from epic.augment import checks
from epic.augment.base import MethodInfo
from epic.augment.params import param
from epic.augment.sampling import beta
from epic.augment.training import TrainingMethod, need_parts
from epic.errors import InputError


class ManifoldMixup(TrainingMethod):
    """Mix the pooled vectors of graphs before the head, and their losses in the same proportion.

    Wang et al., Mixup for Node and Graph Classification, The Web Conference 2021 (after Verma et al., ICML 2019). Each
    graph of a batch meets a random graph, which may be itself; the share is drawn from Beta(``alpha``, ``alpha``), once
    for a batch. No graph is changed, so edge attributes are kept.

    The loss against both labels is mixed, not the labels: for classes that is the same, and where 0/1 tasks are missing
    it uses what either graph has. ``alpha`` = 1, a uniform share, is our choice of default.
    """

    info = MethodInfo(
        paper="Wang et al., Mixup for Node and Graph Classification, WWW 2021",
        changes="vectors of whole graphs",
        needs="a model with embed, head",
        label="loss mixed by a share from Beta(alpha, alpha)",
        cost="nearly none",
    )
    mixes = True

    alpha: float = param(
        default=1.0, grid=(0.1, 0.5, 2.0), check=checks.positive, kw_only=False, help="shares follow Beta(alpha, alpha)"
    )

    def attach_randomness(self, batch: Batch, generator: torch.Generator) -> None:
        batch.mixup_share = beta(1, self.alpha, self.alpha, generator)[0].float().to(batch.y.device)
        batch.mixup_partner = torch.randperm(batch.num_graphs, generator=generator).to(batch.y.device)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """``l * loss(output, y) + (1 - l) * loss(output, y of partners)``, of outputs on mixed vectors."""
        parts = need_parts(model, ("embed", "head"), "ManifoldMixup")
        batch = self.ensure_augmented(batch)
        if "mixup_partner" not in batch:
            raise InputError("the batch has no partners to mix with: call ManifoldMixup()(batch) on it first")
        share, partner = batch.mixup_share, batch.mixup_partner
        h = parts.embed(batch)
        output = parts.head(share.to(h.dtype) * h + (1 - share).to(h.dtype) * h[partner])
        return share * self.criterion(output, batch.y) + (1 - share) * self.criterion(output, batch.y[partner])
