"""A DataLoader with augmented batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader

from epic.data.dataset import Dataset
from epic.graphs.convert import pack
from epic.random import derived

if TYPE_CHECKING:
    from epic.augment.base import Augmentation


class AugmentedLoader(DataLoader):
    """Torch's DataLoader over graphs, with augmented batches; every pass over it is a new epoch."""

    def __init__(self, augment: Augmentation, dataset: Any, batch_size: int, **options: Any) -> None:
        if isinstance(dataset, Dataset) and augment.task_ is None:
            augment.set_label_type(dataset.task, dataset.num_classes)
        # Here and not first in a worker, whose findings would stay there.
        augment.examine(pack([dataset[i] for i in range(min(batch_size, len(dataset)))]))
        if options.get("generator") is None:  # torch would draw from the global random state at every pass
            options["generator"] = derived(augment._seed, "loader")
        super().__init__(dataset, batch_size, collate_fn=augment, **options)
        self._augment, self._passes = augment, 0

    def __iter__(self) -> Any:
        self._augment.set_epoch(self._passes)
        self._passes += 1
        return super().__iter__()
