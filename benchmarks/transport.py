"""Barycentres and alignments of FGW-Mixup and GeoMix, next to POT's own solver of barycentres.

    python benchmarks/transport.py                # data from EPIC_DATA; appends to results/transport.jsonl

Random pairs of graphs. Times are milliseconds of processor time a pair, on one thread, the median over the pairs; the
objective is the mean over the pairs of the weighted sum of squared distances that a barycentre minimises. What POT
finds is judged with the best coupling that we find from its own couplings and from ours.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import ot
import torch

from epic.augment.dense import Dense
from epic.data import load
from epic.data.splits import split_of
from epic.matching.gromov import Side, align, barycenter, couple, product, spread
from epic.random import derived, uniform
from epic.train.loop import with_features
from timing import RESULTS, record

STRUCTURE = 0.95


def by_pot(sides: tuple[Side, Side], share: float, size: int) -> tuple[Side, list[np.ndarray]]:
    """POT's barycentre, and its couplings with both."""
    x, a, log = ot.gromov.fgw_barycenters(
        size,
        [side.x for side in sides],
        [side.a for side in sides],
        lambdas=[share, 1 - share],
        alpha=STRUCTURE,
        symmetric=True,
        random_state=0,
        log=True,
    )
    return Side(a, x), log["T"]


def judge(support: Side, plans: list[np.ndarray], sides: tuple[Side, Side], share: float) -> float:
    """The objective of a barycentre, with the best coupling from its own and from ours to begin with."""
    found = []
    for side, plan in zip(sides, plans, strict=True):
        shape = len(support), len(side)
        own = [p for p in (plan, plan.T) if p.shape == shape]  # which side comes first has changed between versions
        starts = [*own, product(*shape), spread(*shape)]
        found.append(couple(support, side, starts=starts, structure=STRUCTURE)[1])
    return share * found[0] + (1 - share) * found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="MUTAG,ENZYMES,IMDB-BINARY")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=RESULTS / "transport.jsonl")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.datasets.split(","):
        dataset = load(name)
        split = split_of(dataset.y, official=dataset.split, seed=0)
        graphs = with_features(dataset.graphs, split.train).select(split.train)
        generator = derived(0, "transport")
        pairs = torch.randperm(len(graphs), generator=generator)[: 2 * options.pairs].view(-1, 2).tolist()
        places = round(float(graphs.sizes.double().mean()))
        spent: dict[str, list[float]] = {"barycenter": [], "POT": [], "align": []}
        objective: dict[str, list[float]] = {"barycenter": [], "POT": []}
        for (i, j), share in zip(pairs, uniform(options.pairs, generator).tolist(), strict=True):
            sides = (Dense.of(graphs, i).side, Dense.of(graphs, j).side)
            size = max(1, round(share * len(sides[0]) + (1 - share) * len(sides[1])))
            clock = [time.process_time()]
            _, value = barycenter(*sides, share=share, size=size, structure=STRUCTURE)
            clock.append(time.process_time())
            theirs = by_pot(sides, share, size)
            clock.append(time.process_time())
            align(*sides, size=places, structure=1.0)
            clock.append(time.process_time())
            for key, begin, end in zip(spent, clock, clock[1:], strict=False):
                spent[key].append(1e3 * (end - begin))
            objective["barycenter"].append(value)
            objective["POT"].append(judge(*theirs, sides, share))
        milliseconds = {key: round(statistics.median(times), 3) for key, times in spent.items()}
        means = {key: round(float(statistics.mean(values)), 5) for key, values in objective.items()}
        print(f"{name}: {milliseconds} ms, objective {means}")
        record(
            options.out,
            quiet=True,
            benchmark="transport",
            dataset=name,
            pairs=options.pairs,
            milliseconds=milliseconds,
            objective=means,
            pot=ot.__version__,
        )


if __name__ == "__main__":
    main()
