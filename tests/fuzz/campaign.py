"""Run many cases and keep a one-page summary: ``python -m tests.fuzz.campaign 100000``.

A case is a kind and a number; the number seeds everything in it. Cases that are in the summary are not done again, so a
campaign can be stopped and continued, and a failure is repeated by its kind and number.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from epic import InputError
from epic._io import write_text
from tests.fuzz import files, memory

KINDS = {**{k: ("memory", f) for k, f in memory.CASES.items()}, **{k: ("files", f) for k, f in files.CASES.items()}}
SECONDS = 10
"""A case that takes longer hangs."""
COLUMNS = ("cases", "accepted", "refused", "crashes", "hangs", "wrong")
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
    signal.alarm(SECONDS)
    try:
        with tempfile.TemporaryDirectory(prefix="epic-fuzz-") as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return KINDS[kind][1](rng, Path(folder)), ""
    except (InputError, *files.REFUSALS) as error:
        return ("refused", "") if str(error).strip() else ("crashes", "a refusal without a word")
    except memory.WrongAnswer as error:
        return "wrong", str(error)
    except Hang:
        return "hangs", f"longer than {SECONDS} s"
    except Exception:
        return "crashes", traceback.format_exc(limit=-4)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def campaign(total: int, seconds: float, path: Path) -> dict:
    """Do cases of all kinds in turn until there are ``total``, or the time is over."""
    done = json.loads(path.read_text())["kinds"] if path.exists() else {}
    counts = {k: {**dict.fromkeys(COLUMNS, 0), "failures": [], **done.get(k, {})} for k in KINDS}
    end, share = time.monotonic() + seconds, -(-total // len(KINDS))
    with tqdm(total=total, initial=sum(c["cases"] for c in counts.values()), unit="case", mininterval=10) as bar:
        while time.monotonic() < end:
            left = [k for k in KINDS if counts[k]["cases"] < share]
            if not left:
                break
            kind = min(left, key=lambda k: counts[k]["cases"])
            for number in range(counts[kind]["cases"], min(counts[kind]["cases"] + 50, share)):
                column, why = run_case(kind, number)
                counts[kind]["cases"] += 1
                counts[kind][column] += 1
                if why and len(counts[kind]["failures"]) < KEPT:
                    counts[kind]["failures"].append({"number": number, "column": column, "why": why})
                bar.update()
    found = {
        "command": f"make fuzz N={total}",
        **{
            room: {c: sum(counts[k][c] for k in KINDS if KINDS[k][0] == room) for c in COLUMNS}
            for room in ("memory", "files")
        },
        "kinds": counts,
    }
    write_text(path, json.dumps(found, indent=1) + "\n")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=Path("results/fuzz.json"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable()
    summary = campaign(given.cases, given.seconds, given.out)
    print(json.dumps({room: summary[room] for room in ("memory", "files")}, indent=1))
    raise SystemExit(any(summary[room][c] for room in ("memory", "files") for c in ("crashes", "hangs", "wrong")))
