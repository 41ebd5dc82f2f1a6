"""Ctrl-C: one line, and a second one does not tear apart what the first one ends."""

import os
import signal
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys
from epic import cli

def app():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        raise SystemExit("not interrupted")
    finally:
        os.kill(os.getpid(), signal.SIGINT)  # while the command ends
        print("put away", flush=True)

cli.app = app
cli.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_a_second_ctrl_c_lets_the_command_end():
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # in the background a shell ignores it
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, "put away\n", "epic: interrupted\n")


def test_the_handler_is_put_back(monkeypatch):
    from epic import cli

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(cli, "app", lambda: None)
    cli.main()
    assert signal.getsignal(signal.SIGINT) is before
