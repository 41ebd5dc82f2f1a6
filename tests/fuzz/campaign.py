"""Run many cases and keep a one-page summary: ``python -m tests.fuzz.campaign 100000``.

A case is a kind and a number; the number seeds everything in it. Cases that are in the summary are not done again, so a
campaign can be stopped and continued. A kind with a failure is done again as a whole: mend it first.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import multiprocessing
import signal
import tempfile
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from epic import InputError
from epic._io import write_text
from tests.fuzz import files, kills, memory
from tests.fuzz.oracle import WrongAnswer

ROOMS = {"memory": (memory, 1), "files": (files, 10), "kills": (kills, 20_000)}
"""Cases by where they are, and for how many cases in memory there is one."""
KINDS = {kind: (room, case) for room, (place, _) in ROOMS.items() for kind, case in place.CASES.items()}
SLOW = {"pools", "valid_paths", "counterfactuals", "parts", "bounds"}
"""Kinds that get a quarter of the cases of others."""
SECONDS = 30
"""A case that takes longer hangs."""
STEP = 50
"""Cases of a kind that are done in one go."""
SAVED = 30
"""Seconds between two summaries."""
FAILURES = ("crashes", "hangs", "wrong")
COLUMNS = ("cases", "accepted", "refused", *FAILURES)
KEPT = 5
"""Failures of a kind that are kept in full."""


class Hang(BaseException):
    """Not an Exception: readers turn those into sentences."""


def _alarm(*_):
    raise Hang


def run_case(kind: str, number: int) -> tuple[str, str]:
    """Return the column that a case counts in, and what went wrong."""
    rng = np.random.default_rng([sum(kind.encode()), number])
    before = signal.signal(signal.SIGALRM, _alarm)
    seconds = kills.SECONDS if kind == "kills" else SECONDS
    signal.alarm(seconds)
    try:
        with tempfile.TemporaryDirectory(prefix="epic-fuzz-") as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return KINDS[kind][1](rng, Path(folder)), ""
    except (InputError, *files.REFUSALS) as error:
        return ("refused", "") if str(error).strip() else ("crashes", "a refusal without a word")
    except WrongAnswer as error:
        return "wrong", str(error)
    except Hang:
        return "hangs", f"longer than {seconds} s"
    except Exception:
        return "crashes", traceback.format_exc(limit=-4)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def goals(total: int) -> dict[str, int]:
    """Return how many cases each kind has in a campaign of ``total`` cases in memory."""
    weight = {k: 0.25 if k in SLOW else 1.0 for k in KINDS}
    whole = {room: sum(w for k, w in weight.items() if KINDS[k][0] == room) for room in ROOMS}
    return {k: math.ceil(total / ROOMS[KINDS[k][0]][1] * weight[k] / whole[KINDS[k][0]]) for k in KINDS}


def run_cases(kind: str, numbers: range) -> list[tuple[str, str]]:
    """Do some cases of a kind."""
    return [run_case(kind, number) for number in numbers]


def campaign(total: int, path: Path, *, seconds: float = math.inf, workers: int = 1) -> dict:
    """Do cases of all kinds in turn until there are enough, or the time is over; save the summary now and then."""
    done = json.loads(path.read_text())["kinds"] if path.exists() else {}
    done = {k: count for k, count in done.items() if not any(count[column] for column in FAILURES)}
    counts = {k: {**dict.fromkeys(COLUMNS, 0), "failures": [], **done.get(k, {})} for k in KINDS}
    goal, begin = goals(total), {k: c["cases"] for k, c in counts.items()}
    step = {k: 1 if k == "kills" else STEP for k in KINDS}
    steps = [(k, range(at, min(at + step[k], goal[k]))) for k in KINDS for at in range(begin[k], goal[k], step[k])]
    steps.sort(key=lambda step: step[1].start / goal[step[0]])
    end = saved = time.monotonic()
    end += seconds
    with (
        ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) as pool,
        tqdm(total=sum(goal.values()), initial=sum(begin.values()), unit="case", mininterval=10) as bar,
    ):
        # In order, so that what is counted is always all numbers below some number.
        made = (map if workers == 1 else pool.map)(run_cases, *zip(*steps, strict=True)) if steps else []
        try:
            for (kind, numbers), answers in zip(steps, made, strict=True):
                count = counts[kind]
                for number, (column, why) in zip(numbers, answers, strict=True):
                    count["cases"] += 1
                    count[column] += 1
                    if why and len(count["failures"]) < KEPT:
                        count["failures"].append({"number": number, "column": column, "why": why})
                bar.update(len(numbers))
                if time.monotonic() > saved + SAVED:
                    _save(path, total, counts)
                    saved = time.monotonic()
                if time.monotonic() > end:
                    break
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            found = _save(path, total, counts)
    return found


def _save(path: Path, total: int, counts: dict) -> dict:
    """Write the summary, whole or not at all."""
    rooms = {r: {c: sum(counts[k][c] for k in KINDS if KINDS[k][0] == r) for c in COLUMNS} for r in ROOMS}
    found = {"command": f"make fuzz N={total}", **rooms, "kinds": counts}
    write_text(path, json.dumps(found, indent=1) + "\n")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int, help="cases in memory; a tenth as many read files, one in 20,000 kills")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=Path("results/fuzz.json"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable()
    for kind in KINDS.keys() - {"kills"}:  # compiles what is compiled, so that no case hangs by that
        run_case(kind, 0)
    summary = campaign(given.cases, given.out, seconds=given.seconds, workers=given.workers)
    print(json.dumps({room: summary[room] for room in ROOMS}, indent=1))
    raise SystemExit(any(summary[room][c] for room in ROOMS for c in FAILURES))
