"""The command line as tests call it."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from epic.cli import main


@dataclass
class Run:
    returncode: int
    stdout: str
    stderr: str


def epic(*arguments, cwd=None) -> Run:
    """The command line in this process: starting a new one costs seconds, spent on importing torch and PyG."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    before, place, ctrl_c, hook = sys.argv, Path.cwd(), signal.getsignal(signal.SIGINT), sys.unraisablehook
    sys.argv = ["epic", *arguments]
    os.chdir(cwd or place)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv, sys.unraisablehook = before, hook
        signal.signal(signal.SIGINT, ctrl_c)
        os.chdir(place)
    return Run(code, out.getvalue(), err.getvalue())


def killed(command, ready, limit=90):
    """Start a command in a process of its own and kill it as soon as ``ready()``."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from epic.cli import main; main()", *command],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    deadline = time.time() + limit
    while not ready():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.time() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
