"""Speed of the core on NCI1 pairs, one thread, each with its rival in the same run.

    python benchmarks/core.py                    # data from EPIC_DATA; appends to results/core.jsonl

Every number is the median of interleaved rounds, so that a noisy machine slows all of them alike. Rivals that are not
installed (POT, pygmtools: pip install 'epic-graph[bench]') are left out and named.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GIN, GINConv, global_add_pool

from epic import EPIC, InputError, LearnedCost, Operation, edit_path
from epic.augment.generation import CHUNK, generate_chunk
from epic.data import read_tu, stratified_split
from epic.distance.pairs import Pairs, embed_all, padded_blocks, padded_costs, reduced_costs
from epic.graphs.convert import pack
from epic.graphs.ragged import buckets
from epic.matching import sinkhorn
from epic.matching.exact import assign_blocks, solve_each
from timing import RESULTS, keep_memory, race, record

PAIRS = 128
OURS = f"ours: reduced n x m, {'compiled' if find_spec('numba') else 'scipy'}"


def show(title: str, times: dict[str, float], ours: str) -> None:
    print(f"\n{title}")
    for name, ms in times.items():
        ratio = "" if name == ours else f"   {ms / times[ours]:7.1f} x ours"
        print(f"  {name:<44}{ms:9.4f} ms {1e3 / ms:11.0f} /s{ratio}")


def exact(cost: LearnedCost, graphs, i, j, rounds: int) -> dict[str, float]:
    nodes = embed_all(cost, graphs)
    reduced = reduced_costs(cost, source=nodes, target=nodes)
    ptr = nodes.ptr.tolist()
    cells = [
        reduced(slice(ptr[a], ptr[a + 1]), slice(ptr[b], ptr[b + 1]))
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    ]
    d, h = nodes.deletion.numpy(), nodes.insertion.numpy()
    prices = [(d[ptr[a] : ptr[a + 1]], h[ptr[b] : ptr[b + 1]]) for a, b in zip(i.tolist(), j.tolist(), strict=True)]
    squares = []
    for cell, (lost, won) in zip(cells, prices, strict=True):
        n, m = cell.shape
        full = np.zeros((n + m, n + m))
        full[:n, :m] = cell + lost[:, None] + won
        full[:n, m:] = np.where(np.eye(n, dtype=bool), lost[:, None], 1e6)
        full[n:, :m] = np.where(np.eye(m, dtype=bool), won, 1e6)
        squares.append(full)

    rows, columns = (np.array(size) for size in zip(*(cell.shape for cell in cells), strict=True))
    top, left = np.cumsum(rows) - rows, np.zeros_like(rows)
    field = np.zeros((rows.sum(), columns.max()))
    for at, cell in zip(top, cells, strict=True):
        field[at : at + cell.shape[0], : cell.shape[1]] = cell

    def ours() -> np.ndarray:
        return assign_blocks(field, top=top, left=left, rows=rows, columns=columns)

    def one_by_one() -> int:
        return solve_each(field, top, left, rows, columns, np.full(rows.sum(), -1))

    def theirs() -> list[tuple[np.ndarray, np.ndarray]]:
        return [linear_sum_assignment(s) for s in squares]

    base = sum(float(lost.sum() + won.sum()) for lost, won in prices)
    partner = ours()
    kept = np.flatnonzero(partner >= 0)
    saved = float(field[kept, partner[kept]].sum())
    full = sum(float(s[at].sum()) for s, at in zip(squares, theirs(), strict=True))
    assert abs(base + saved - full) < 1e-6 * full  # the same optimum
    return race(
        {
            OURS: (ours, PAIRS),
            "ours: reduced n x m, scipy for each pair": (one_by_one, PAIRS),
            "scipy: full (n+m) x (n+m)": (theirs, PAIRS),
        },
        rounds,
    )


def soft(
    cost: LearnedCost, graphs, i, j, rounds: int, delta: float = 0.1, k: int = 10
) -> tuple[dict[str, float], list[str]]:
    """Forward and backward of the plan's cost, from given cost matrices."""
    with torch.no_grad():
        nodes = cost.embed(graphs)
        pairs = Pairs(cost, source=nodes, target=nodes, i=i, j=j)
        blocks = list(padded_blocks(pairs))
        singles = [padded_costs(replace(pairs, i=i[p : p + 1], j=j[p : p + 1])) for p in range(PAIRS)]
        blur = delta * float(torch.cat([s.substitution.flatten() for s in singles]).mean())

    def leaves(block):
        return [t.clone().requires_grad_() for t in (block.substitution, block.deletion, block.insertion)]

    def batched() -> None:
        for block in blocks:
            sinkhorn(
                *leaves(block), delta=blur, iterations=k, rows=block.rows, columns=block.columns
            ).distance.sum().backward()

    def one_by_one() -> None:
        for single in singles:
            sinkhorn(*leaves(single), delta=blur, iterations=k).distance.sum().backward()

    def log_domain() -> None:
        for block in blocks:
            S, d, h = leaves(block)
            row = torch.arange(S.shape[1]) < block.rows[:, None]
            column = torch.arange(S.shape[2]) < block.columns[:, None]
            s = (-S / blur).masked_fill(~(row[:, :, None] & column[:, None, :]), -1e30)
            g = torch.zeros_like(h)
            for _ in range(k):
                f = -torch.logsumexp(torch.cat([s + g[:, None, :], (-d / blur)[:, :, None]], 2), 2)
                g = -torch.logsumexp(torch.cat([s + f[:, :, None], (-h / blur)[:, None, :]], 1), 1)
            plan = torch.exp(s + f[:, :, None] + g[:, None, :])
            total = (plan * S).sum() + (torch.exp(f - d / blur) * d).sum() + (torch.exp(g - h / blur) * h).sum()
            total.backward()

    entries: dict[str, tuple[Callable[[], object], int]] = {
        "ours: batched": (batched, PAIRS),
        "ours: one pair at a time": (one_by_one, PAIRS),
        "log domain, batched, autograd": (log_domain, PAIRS),
    }
    missing = []
    few = range(0, PAIRS, 8)  # the rivals are slow: every eighth pair

    def square(p: int) -> torch.Tensor:
        """The rivals have no deletion: they get the full (n+m) square with a finite wall."""
        S, d, h = (t[0] for t in leaves(singles[p]))
        wall = 20 * blur
        top = torch.cat([S, torch.full((len(d), len(d)), wall).fill_diagonal_(0) + torch.diag(d)], 1)
        low = torch.cat(
            [torch.full((len(h), len(h)), wall).fill_diagonal_(0) + torch.diag(h), torch.zeros(len(h), len(d))], 1
        )
        return torch.cat([top, low])

    try:
        import ot

        def pot() -> None:
            for p in few:
                C = square(p)
                one = torch.ones(len(C)) / len(C)
                (ot.bregman.sinkhorn_log(one, one, C, blur, numItermax=k, stopThr=0, warn=False) * C).sum().backward()

        entries["POT: sinkhorn_log, full square"] = (pot, len(few))
    except ImportError:
        missing.append("POT")
    try:
        import pygmtools

        pygmtools.set_backend("pytorch")

        def pygm() -> None:
            for p in few:
                C = square(p)
                (pygmtools.sinkhorn(-C, max_iter=2 * k, tau=blur) * C).sum().backward()

        entries["pygmtools: sinkhorn, full square"] = (pygm, len(few))
    except ImportError:
        missing.append("pygmtools")
    return race(entries, rounds), missing


def augmentation(cost: LearnedCost, train, rounds: int) -> dict[str, float]:
    """Augmented graphs in a training step, the slow reference, and the step itself (GIN, 5 x 64, batch 128)."""
    graphs = [train.graph(g) for g in range(0, len(train), len(train) // 512)][:512]
    batch, large = Batch.from_data_list(graphs[::4]), Batch.from_data_list(graphs)
    augment, more = (EPIC(cost, ratio=ratio, num_classes=2, seed=0, degree_features=False) for ratio in (0.5, 1.0))
    model = torch.nn.ModuleDict(
        {"gin": GIN(batch.x.shape[1], 64, 5, norm="batch_norm"), "head": torch.nn.Linear(64, 2)}
    )
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    number = count()

    def step() -> None:
        optimizer.zero_grad()
        out = model["head"](global_add_pool(model["gin"](batch.x, batch.edge_index), batch.batch))
        F.cross_entropy(out, batch.y).backward()
        optimizer.step()

    def generate() -> None:
        generate_chunk(augment, train, seed=0, number=next(number))

    def slow() -> None:
        for g in range(0, 8, 2):
            step_by_step(graphs[g], graphs[g + 1], edit_path(graphs[g], graphs[g + 1], cost, seed=0).operations)

    plain = Plain(cost)
    for g in range(0, 8, 2):  # the same distance
        assert abs(plain.operations(graphs[g], graphs[g + 1])[1] / cost.distance(graphs[g], graphs[g + 1]) - 1) < 2e-3

    def by_the_paper() -> None:
        for g in range(0, 8, 2):
            plain(graphs[g], graphs[g + 1])

    return race(
        {
            "ours: augmented graph, embedding included": (lambda: augment(batch), 64),
            "ours: the same, 128 in a call instead of 64": (lambda: more(batch), 128),
            "ours: the same, 256 in a call": (lambda: augment(large), 256),
            "ours: by generate, 256 at a time": (generate, CHUNK),
            "one operation at a time, on dictionaries": (slow, 4),
            "all by the paper: PyG, scipy, dictionaries": (by_the_paper, 4),
            "one GIN training step, per graph": (step, 128),
        },
        rounds,
    )


class Plain:
    """EPIC as one would write it from the paper, with a cost that we learned: layers of PyG, scipy on the full square,
    half of the operations in random order one after the other, a new graph with its label.
    """

    def __init__(self, cost: LearnedCost) -> None:
        self.network = cost.network_
        self.layers = []
        for layer in self.network.layers:
            conv = GINConv(torch.nn.Identity(), layer.eps.item())
            conv.nn = layer.update  # given to GINConv itself, it would start from new weights
            self.layers.append((conv, layer.norm))

    @torch.no_grad()
    def embed(self, graph: Data) -> tuple[torch.Tensor, torch.Tensor]:
        h, outputs = self.network.encode.linear(graph.x), []
        for conv, norm in self.layers:
            h = F.relu(norm(conv(h, graph.edge_index)))
            outputs.append(h)
        embedding = torch.cat(outputs, 1)
        return embedding, F.softplus(self.network.price(embedding))[:, 0] + self.network.floor

    def operations(self, source: Data, target: Data) -> tuple[list[Operation], float]:
        (h, lost), (k, won) = self.embed(source), self.embed(target)
        n, m = len(lost), len(won)
        square = torch.zeros(n + m, n + m)
        square[:n, :m] = torch.cdist(h, k)
        square[:n, m:] = torch.full((n, n), 1e6).fill_diagonal_(0) + torch.diag(lost)
        square[n:, :m] = torch.full((m, m), 1e6).fill_diagonal_(0) + torch.diag(won)
        rows, columns = linear_sum_assignment(square.numpy())
        found = []
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            if row < n or column < m:
                kind = "insert" if row >= n else "delete" if column >= m else "substitute"
                found.append(
                    Operation(
                        kind, row if row < n else None, column if column < m else None, float(square[row, column])
                    )
                )
        return found, sum(op.cost for op in found)

    def __call__(self, source: Data, target: Data) -> Data:
        operations, total = self.operations(source, target)
        operations = [operations[k] for k in torch.randperm(len(operations)).tolist()]
        nodes, edges = step_by_step(source, target, operations)
        place = {node: number for number, node in enumerate(nodes)}
        ends = [(place[a], place[b]) for a, b in edges]
        share = sum(op.cost for op in operations[: len(operations) // 2]) / total
        y = torch.stack([F.one_hot(graph.y[0], 2).float() for graph in (source, target)])
        return Data(
            x=torch.stack([(source if side == "s" else target).x[number] for side, number in nodes]),
            edge_index=torch.tensor(ends).T.reshape(2, -1),
            y=((1 - share) * y[0] + share * y[1])[None],
        )


def step_by_step(source: Data, target: Data, operations: Sequence[Operation]) -> tuple[set, dict]:
    """Algorithm 1 as printed: half of the path, one operation after the other, with a scan of the edges at each."""
    edges = {(("s", u), ("s", v)): None for u, v in source.edge_index.T.tolist()}
    goal = set(map(tuple, target.edge_index.T.tolist()))
    nodes = {("s", u) for u in range(source.num_nodes)}
    for op in operations[: len(operations) // 2]:
        old, new = ("s", op.source), ("t", op.target)
        nodes.discard(old)
        if op.kind == "delete":
            edges = {e: a for e, a in edges.items() if old not in e}
            continue
        nodes.add(new)
        edges = {(new if a == old else a, new if b == old else b): w for (a, b), w in edges.items()}
        for other in nodes:
            if other[0] == "t":
                for a, b in ((new, other), (other, new)):
                    if (a[1], b[1]) in goal:
                        edges[a, b] = None
                    else:
                        edges.pop((a, b), None)
    return nodes, edges


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", default=os.environ.get("EPIC_DATA"), help="folder that holds tu/ (default: EPIC_DATA)"
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path, default=RESULTS / "core.jsonl")
    args = parser.parse_args()
    if not args.data:
        raise InputError("no data folder: pass --data or set EPIC_DATA")
    torch.set_num_threads(1)
    keep_memory()
    graphs = read_tu(Path(args.data) / "tu", "NCI1")
    assert graphs.y is not None
    train = graphs.select(stratified_split(graphs.y).train)
    # How hard an assignment is depends on the costs: barely learned ones would not be representative.
    cost = LearnedCost().fit(train, epochs=10, assignment="hungarian")
    generator = torch.Generator().manual_seed(0)
    pool = pack(train).select(torch.randperm(len(train), generator=generator)[: 2 * PAIRS])
    i, j = torch.arange(PAIRS), torch.arange(PAIRS, 2 * PAIRS)
    groups = [len(g) for g in buckets(pool.sizes[i], pool.sizes[j])]

    exact_times = exact(cost, pool, i, j, args.rounds)
    show("Exact assignment, per pair (costs given)", exact_times, OURS)
    soft_times, missing = soft(cost, pool, i, j, args.rounds)
    show(f"Soft assignment, forward and backward, k = 10, per pair (buckets of {groups})", soft_times, "ours: batched")
    if missing:
        print(f"  not installed, so not measured: {', '.join(missing)}")
    whole = augmentation(cost, train, args.rounds)
    show("Augmented graphs, per graph", whole, "ours: augmented graph, embedding included")
    step = whole["one GIN training step, per graph"]
    share, half, large, alone = (ms / step for name, ms in whole.items() if name.startswith("ours"))
    print(
        f"\n  an augmented graph takes {share:.2f} of a GIN training step per graph ({half:.2f} with 128 in a call, "
        f"{large:.2f} with 256, {alone:.2f} by generate)"
    )
    record(
        args.out,
        exact_ms=exact_times,
        soft_ms=soft_times,
        augment_ms=whole,
        augment_share_of_gin_step=round(share, 3),
        augment_share_of_gin_step_128=round(half, 3),
        augment_share_of_gin_step_256=round(large, 3),
        generate_share_of_gin_step=round(alone, 3),
        compiled=bool(find_spec("numba")),
        threads=1,
    )


if __name__ == "__main__":
    main()
