"""Ctrl-C: one line, whatever moment it comes at, and a second one does not tear apart what the first one ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")

START = """
import atexit, os, signal, sys, threading
from epic.cli import main

def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)
"""
COMMAND = (
    START
    + """
import epic.cli.verbs

def app():
{}

epic.cli.verbs.app = app
main()
"""
)


def run(script):
    """Run a script, and wait for all that it started."""
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # in the background a shell ignores it
    )


TWICE = """
    try:
        ctrl_c()
        raise SystemExit("not interrupted")
    finally:
        ctrl_c()  # while the command ends
        print("put away", flush=True)
"""
SWALLOWED = """
    class Odd:
        def __del__(self):
            ctrl_c()
            threading.Event().wait(9)
    Odd()
    threading.Event().wait(9)
"""

LOADING = """
    class Odd:
        def find_spec(self, name, *_):
            if name == "missing":
                try:
                    ctrl_c()
                    threading.Event().wait(0.2)
                except BaseException:
                    print("torn apart")
    sys.meta_path.insert(0, Odd())
    try:
        import missing
    except ImportError:
        threading.Event().wait(9)
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [(TWICE, "put away\n"), (SWALLOWED, ""), (LOADING, "")],
    ids=["twice", "in __del__", "in an import"],
)
def test_ctrl_c_ends_the_command_in_one_line(body, said):
    ended = run(COMMAND.format(body))
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, said, "epic: interrupted\n")


@pytest.mark.parametrize("when", ["atexit.register", "threading._register_atexit"])
def test_ctrl_c_when_all_is_done_changes_nothing(when):
    ended = run(COMMAND.format(f"    {when}(ctrl_c)\n    raise SystemExit(0)"))
    assert (ended.returncode, ended.stderr) == (0, "")


POOL = """
    import importlib
    from epic.parallel import execute
    from tests.parallel.tasks import half

    module, _, name = "{where}".partition(":")
    holder = importlib.import_module(module)
    *inner, name = name.split(".")
    for step in inner:
        holder = getattr(holder, step)
    real = getattr(holder, name)

    def called(*given, **named):
        found = real(*given, **named)
        ctrl_c()
        return found

    setattr(holder, name, called)
    print([o.value for o in execute(half, [2], workers=1)])
"""


@pytest.mark.parametrize(
    "where",
    [
        "multiprocessing.util:spawnv_passfds",
        "multiprocessing.resource_tracker:ResourceTracker._send",
        pytest.param("multiprocessing.popen_fork:Popen.poll", marks=pytest.mark.slow),
        "concurrent.futures.process:_ExecutorManagerThread.start",
        pytest.param("concurrent.futures.process:ProcessPoolExecutor.shutdown", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_while_a_pool_begins_or_ends(where):
    ended = run(COMMAND.format(POOL.format(where=where)))
    done = [(0, "")] if "poll" in where else []  # the command may have ended before it looks after its workers
    assert (ended.returncode, ended.stderr) in [(130, "epic: interrupted\n"), *done]
