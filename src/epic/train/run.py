"""One run: from a config to a trained and evaluated classifier."""

from __future__ import annotations

import hashlib
import logging
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from epic import __version__
from epic._checkpoint import identity
from epic._io import alone, write_tensors, write_text
from epic.augment import find_method
from epic.augment.base import Augmentation
from epic.costs.base import Cost
from epic.costs.learned import LearnedCost
from epic.costs.learning import Learning
from epic.data import load
from epic.data.dataset import Dataset
from epic.data.noise import corrupt
from epic.data.splits import Split, need_parts, split_of
from epic.errors import InputError
from epic.graphs.convert import pack
from epic.nn.backbones import backbone_for
from epic.nn.fit_loop import Line
from epic.train.baselines import BASELINES
from epic.train.config import RESULTS_VERSION, CostConfig, RunConfig
from epic.train.distances import distance_classifier, need_classes
from epic.train.loop import PARTS, train, with_features
from epic.train.metrics import probabilities, score
from epic.train.network import Network, build_network, load_network

MODEL_FORM = "epic-model/1"
logger = logging.getLogger(__name__)


def fitted(
    config: RunConfig,
    dataset: Dataset,
    split: Split,
    costs: Path,
    *,
    device: torch.device | str = "cpu",
    progress: bool = True,
) -> tuple[Augmentation, float | None]:
    """Fit the method of a run on its training graphs.

    Args:
        config: The run.
        dataset: Its graphs, as :func:`dataset_of` gives them.
        split: Their split.
        costs: Folder of learned costs, shared by all runs that need the same.
        device: Where costs are learned.
        progress: Whether to show progress bars.

    Returns:
        The method, and the seconds that fitting took, learning of costs included even if they were learned before (None
        if not known).
    """
    training = dataset.graphs.select(need_parts(split, "train").train)
    preset = find_method(config.method)
    known = {"seed": config.seed, "task": dataset.task, "num_classes": dataset.num_classes}
    settings = {**known, **config.settings}
    if "degree_features" in preset.params and dataset.degree_features:
        settings.setdefault("degree_features", True)
    learned: float | None = 0.0
    if "cost" in preset.params:
        settings["cost"], learned = cost_of(
            config.cost, dataset, split, config.seed, costs, device=device, progress=progress
        )
    start = time.perf_counter()
    method = preset.create(**settings)
    options: dict[str, Any] = {}
    if preset.cls.stores:
        options |= {"progress": progress, "folder": costs}
    if preset.cls.learns and config.fit_epochs is not None:
        options["epochs"] = config.fit_epochs
    method.fit(training, **options)
    spent = time.perf_counter() - start
    return method, None if learned is None else round(learned + spent, 3)


def dataset_of(config: RunConfig, data: str | Path | None = None) -> tuple[Dataset, Split]:
    """Return graphs with features and, where asked, noisy labels, and their split.

    Raises:
        InputError: The dataset is not the one that was planned, or label noise is asked for and labels are not classes.
    """
    dataset = load(config.dataset, data=data, target=config.target, task=config.task)
    if config.checksum is not None and config.checksum != dataset.graphs.digest():
        raise InputError(f"{config.dataset} has changed since these runs were planned: plan them again")
    split = split_of(dataset.y, kind=config.split, official=dataset.split, size=config.size, seed=config.split_seed)
    graphs = with_features(dataset.graphs, split.train)
    if config.noise:
        if dataset.task != "classes":
            raise InputError(f"label noise needs classes, but {dataset.name} has {dataset.task} labels")
        seen = torch.cat([split.train, split.validation])
        graphs = replace(
            graphs,
            y=corrupt(dataset.y, share=config.noise, index=seen, seed=config.split_seed, num_classes=dataset.outputs),
        )
    return replace(dataset, graphs=graphs, degree_features=dataset.graphs.x is None), split


def cost_of(
    config: CostConfig,
    dataset: Dataset,
    split: Split,
    seed: int,
    folder: Path,
    *,
    device: torch.device | str = "cpu",
    progress: bool = True,
) -> tuple[Cost, float | None]:
    """Return a cost from its file, from the folder if it was learned before, or learned now.

    Args:
        config: How it is learned.
        dataset: The graphs.
        split: Which of them it is learned from, and which choose the epoch.
        seed: Seed of learning.
        folder: Where learned costs are kept.
        device: Where to learn.
        progress: Whether to show a progress bar.

    Returns:
        The cost, and the seconds that learning it took, now or earlier (None if it was interrupted; 0 for a file).
    """
    if config.file is not None:
        return Cost.load(config.file), 0.0
    training, validation = (dataset.graphs.select(part) for part in (split.train, split.validation))
    how = [RESULTS_VERSION, config.backbone, dataset.task, asdict(Learning(**config.learning(seed)))]
    path = folder / f"cost-{identity(how, training.digest(), validation.digest())[:16]}.safetensors"
    with alone(path, say=False):  # several processes may want it at once
        took = path.with_suffix(".seconds")
        if path.exists():
            return LearnedCost.load(path), float(took.read_text()) if took.exists() else None
        whole = not path.with_suffix(".ckpt").exists()
        start = time.perf_counter()
        cost = LearnedCost(backbone=config.backbone).fit(
            training,
            validation=validation,
            task=dataset.task,
            checkpoint=path.with_suffix(".ckpt"),
            device=device,
            progress=progress,
            **config.learning(seed),
        )
        cost.to("cpu")  # augmentation runs there, in loader workers too
        seconds = time.perf_counter() - start
        logger.info("learned a cost in %.1f s: %s", seconds, path)
        if whole:
            write_text(took, f"{seconds:.3f}")
        cost.save(path)
    return cost, seconds if whole else None


def run(
    config: RunConfig,
    costs: Path,
    *,
    data: str | Path | None = None,
    folder: Path | None = None,
    device: torch.device | str = "cpu",
    num_workers: int = 0,
    progress: bool = True,
    on_epoch_end: Callable[[Line], None] | None = None,
    network: Network | None = None,
) -> dict[str, Any]:
    """Do a run and return its record, which JSON can hold.

    Args:
        config: The run.
        costs: Folder of learned costs.
        data: Folder to look for the dataset in.
        folder: Where checkpoint, history and trained model go; None keeps none of them.
        device: Where to train.
        num_workers: Processes that make batches.
        progress: Whether to show progress bars.
        on_epoch_end: Called with the line of each epoch.
        network: The network that the config names; None imports it by its name.
    """
    if not config.is_network:
        return _run_without_network(config, costs, data=data, device=device, progress=progress)
    dataset, split = dataset_of(config, data)
    method, prepared = fitted(config, dataset, split, costs, device=device, progress=progress)
    graphs = dataset.graphs
    assert graphs.x is not None
    training = graphs.select(split.train)
    sample = pack(method.eval_batch(training), check=False)
    build: Callable[..., torch.nn.Module] = partial(backbone_for, conv=config.backbone, **config.model)
    if config.network is not None:
        build = partial(build_network, network or load_network(config.network))
    model = build(sample, outputs=dataset.outputs, seed=config.seed)
    if sample.x is not None and sample.x.shape[1:] != graphs.x.shape[1:]:
        # One more input column (EPIC's indicator) would shift all that is drawn after it: begin as all methods begin.
        begin_alike(model, build(training, outputs=dataset.outputs, seed=config.seed))
    result = train(
        dataset,
        split=split,
        method=method,
        model=model,
        options=config.training(),
        num_workers=num_workers,
        device=device,
        checkpoint=None if folder is None else folder / "checkpoint.ckpt",
        history=None if folder is None else folder / "history.jsonl",
        progress=progress,
        on_epoch_end=on_epoch_end,
    )
    if folder is not None:
        write_tensors(
            folder / "model.safetensors", model.state_dict(), {"format": MODEL_FORM, "config": config.model_dump()}
        )
    settings = {k: v for k, v in method.get_params().items() if k not in ("seed", "cost")}
    return {
        **_facts(config, dataset, split, result.outputs),
        "method_settings": settings,
        **{k: v for k, v in vars(result).items() if k not in ("history", "outputs")},
        "prepared": prepared,
        "history": {
            k: [line[k] for line in result.history] for k in ("updates", "loss", "validation", "validation_loss")
        },
    }


def _run_without_network(config: RunConfig, costs: Path, *, data: str | Path | None, **learning: Any) -> dict[str, Any]:
    """Fit a baseline or a classifier by edit distance, and return its record."""
    dataset, split = dataset_of(config, data)
    need_parts(split)
    start, learned = time.perf_counter(), None
    if config.backbone in BASELINES:
        outputs = BASELINES[config.backbone](dataset, split, seed=config.seed)
    else:
        need_classes(config.backbone, dataset)
        cost, learned = cost_of(config.cost, dataset, split, config.seed, costs, **learning)
        start = time.perf_counter()
        outputs = distance_classifier(config.backbone, dataset, split, cost=cost, seed=config.seed)
    scores = {p: score(outputs[p], dataset.y[getattr(split, p)], dataset.task) for p in PARTS[1:]}
    spent = {"seconds": round(time.perf_counter() - start, 3), "prepared": learned}
    return {**_facts(config, dataset, split, outputs), **scores, **spent}


def _facts(config: RunConfig, dataset: Dataset, split: Split, outputs: dict[str, Tensor]) -> dict[str, Any]:
    """Return what is kept of every run, whatever the classifier."""
    found = {
        "key": config.key,
        "config": config.model_dump(),
        "task": dataset.task,
        "sizes": [int(getattr(split, part).numel()) for part in PARTS],
        "data": dataset.graphs.digest(),
    }
    if config.outputs:
        found["outputs"] = {
            k: probabilities(v, dataset.task).mul(1e4).round().int().tolist() for k, v in outputs.items()
        }
        found["labels"] = {part: dataset.y[getattr(split, part)].tolist() for part in outputs}
        found["graphs"] = {part: getattr(split, part).tolist() for part in outputs}
    return found


def begin_alike(model: torch.nn.Module, plain: torch.nn.Module) -> None:
    """Give a model the initial weights of one with fewer input columns, as far as that has them."""
    weights = plain.state_dict()
    with torch.no_grad():
        for name, value in model.state_dict().items():
            value[tuple(slice(n) for n in weights[name].shape)] = weights[name]


def file_digest(path: str | Path) -> str:
    """Return a fingerprint of a file's bytes."""
    try:
        return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()
    except OSError as error:
        raise InputError(f"there is no file {path}") from error


def versions() -> dict[str, str]:
    """Return what a result may depend on besides its config."""
    import torch_geometric

    return {
        "epic": __version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "python": platform.python_version(),
    }
