"""Cases of commands that are killed at a random moment and started again: the files are those of a whole run."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import psutil

from epic.data import lollipop, write_graphs
from epic.graphs.convert import pack
from tests.fuzz.oracle import agree

DATA = "../graphs.safetensors"
COMMANDS = {
    "fit": ["fit", DATA, "--out", "cost.safetensors", "--epochs", "6"],
    "train": ["train", DATA, "--method", "epic_unit", "--epochs", "12", "--out", "runs"],
    "augment": ["augment", DATA, "--method", "epic_unit", "--count", "2000", "--shard", "256", "--out", "made"],
    "reproduce": ["reproduce", "lollipop", "--quick", "--epochs", "1", "--workers", "2", "--results", "r.jsonl"],
    # All of it fits into the budget, so that the answer is one.
    "compare": [
        *("compare", DATA, "--methods", "drop_edge", "--splits", "2", "--seeds", "1", "--tune", "0"),
        *("--epochs", "2", "--budget", "2h", "--results", "r.jsonl"),
    ],
}
SECONDS = 900
"""A case runs a command three times."""
TIMES = ("seconds", "seconds_in_all", "making_seconds", "prepared")


def started(name, folder):
    """Start a command in a session of its own, and return when it has begun to work."""
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-c", "from epic.cli import main; print('ready', flush=True); main()", *COMMANDS[name]],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "EPIC_CACHE": str(folder.parent / f"cache-{folder.name}")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # in the background a shell ignores it
    )
    assert process.stdout.readline() == "ready\n"
    return process


def finished(process):
    """Return what a command said on stderr after it has ended, and everything that it started with it."""
    try:
        _, said = process.communicate()
    except BaseException:  # the alarm
        os.killpg(process.pid, signal.SIGKILL)
        raise
    end = time.monotonic() + 20
    while left := [p.pid for p in psutil.process_iter() if _session(p.pid) == process.pid]:
        agree(time.monotonic() < end, f"processes {left} outlive the command")
        time.sleep(0.1)
    return said


def _session(pid):
    try:
        return os.getsid(pid)
    except OSError:
        return None


def contents(folder):
    """Files by name, hidden ones too, without the times that are in them; TensorBoard has the time in its names."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    for name in found:
        if name.endswith((".json", ".jsonl")):
            lines = [found[name]] if name.endswith(".json") else found[name].splitlines()
            found[name] = sorted(json.dumps(_timeless(json.loads(line))) for line in lines)
        elif name.endswith(".html"):
            found[name] = re.sub(rb"\d[\d.]* (s|min|h)\b", b"", found[name])
    return {name: value for name, value in found.items() if "tfevents" not in name}


def _timeless(node):
    if isinstance(node, dict):
        return {k: _timeless(v) for k, v in node.items() if k not in TIMES}
    return [_timeless(v) for v in node] if isinstance(node, list) else node


@cache
def _kept():
    return tempfile.TemporaryDirectory(prefix="epic-fuzz-")


def fresh():
    """An empty folder, always the same one: keys of results hold the place of their data."""
    place = Path(_kept().name)
    for inner in place.iterdir():
        shutil.rmtree(inner) if inner.is_dir() else inner.unlink()
    write_graphs(place / "graphs.safetensors", pack(lollipop(60, seed=0)))
    return place / "a"


@cache
def whole(name):
    """Files of a run that nobody disturbs, and how long it takes."""
    place = fresh()
    process, begin = started(name, place), time.monotonic()
    said = finished(process)
    agree(process.returncode == 0, f"{name} ended with {process.returncode}: {said[-500:]}")
    return contents(place), time.monotonic() - begin


def kills(rng, folder):
    """A command is killed, perhaps twice, and then left alone."""
    name = sorted(COMMANDS)[rng.integers(len(COMMANDS))]
    expected, seconds = whole(name)
    place = fresh()
    for _ in range(rng.integers(1, 3)):
        kill, twice, group = rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.5
        process = started(name, place)
        time.sleep(rng.random() * seconds)
        ended = process.poll() is not None
        for _ in range(1 + twice):
            number = signal.SIGKILL if kill else signal.SIGINT
            if process.poll() is None:
                (os.killpg if group and not kill else os.kill)(process.pid, number)
                time.sleep(rng.random() * 0.2 * twice)
        said = finished(process)
        # At the very end, when Python has put its handlers away, the signal itself ends the process.
        right = {0} if ended else {0, -signal.SIGKILL} if kill else {0, 130, -signal.SIGINT}
        agree(process.returncode in right, f"{name} ended with {process.returncode}: {said[-500:]}")
        agree("Traceback" not in said, f"{name} said: {said[-500:]}")
        agree(kill or "resource_tracker: " not in said, f"{name} said: {said[-500:]}")
        if process.returncode == 130:
            told = [line for line in said.splitlines() if line.startswith(("epic", "Abort"))]
            agree(told == ["epic: interrupted"], f"{name} said: {said[-500:]}")
        for path in place.rglob("*.safetensors"):  # what has its name is whole
            at = str(path.relative_to(place))
            agree(path.name.startswith(".") or path.read_bytes() == expected.get(at), f"{at} was half written")
    process = started(name, place)
    said = finished(process)
    agree(process.returncode == 0, f"{name} cannot go on: {said[-500:]}")
    found = contents(place)
    agree(found.keys() == expected.keys(), f"{name} left {sorted(found.keys() ^ expected.keys())}")
    for at, value in found.items():
        agree(value == expected[at], f"{name} wrote another {at}")
    return "accepted"


CASES = {"kills": kills}
