"""Streams that are closed, full, left by their reader, or of few letters: no traceback, and the work is done."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, which Linux has")

SCRIPT = """
import os, sys, warnings
from contextlib import suppress
import epic.cli.verbs
from epic.cli import main
from epic.cli.messages import configure
from epic.errors import InputError
from tqdm import tqdm

def app():
    configure(False, False)
    for _ in tqdm(range(3), mininterval=0):
        warnings.warn("a word")
    with open("made.txt", "w") as file:
        with suppress(OSError):
            os.write(2, b"a library's word")
        file.write("whole")
    if sys.argv[1:]:
        raise InputError("refused")
    raise SystemExit(print("\\u03c0"))

epic.cli.verbs.app = app
main()
"""


def run(code, folder, *, out="/dev/null", err="/dev/null", arguments=(), **env):
    """Run a script with streams that are files by name, ``closed``, or ``left``, a pipe that nobody reads."""

    def streams():
        for number, name in ((1, out), (2, err)):
            if name == "closed":
                os.close(number)
            elif name == "left":
                source, sink = os.pipe()
                os.close(source)
                os.dup2(sink, number)
            else:
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)

    path = str(Path(__file__).parents[2] / "src")
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.call(command, cwd=folder, env={**os.environ, "PYTHONPATH": path, **env}, preexec_fn=streams)


@pytest.mark.parametrize("err", ["closed", "/dev/full", "left"])
@pytest.mark.parametrize(("arguments", "code"), [((), 0), (("refuse",), 2)])
def test_messages_that_nobody_can_read_stop_no_work(tmp_path, err, arguments, code):
    assert run(SCRIPT, tmp_path, err=err, out=str(tmp_path / "out.txt"), arguments=arguments) == code
    assert (tmp_path / "made.txt").read_text() == "whole", "and not a library's word"
    assert (tmp_path / "out.txt").read_text() == ("" if arguments else "π\n")


@pytest.mark.parametrize(
    ("out", "code", "told"),
    [
        ("closed", 0, ""),
        ("left", 1, ""),
        ("/dev/full", 2, "epic: cannot read or write: No space left on device\n"),
    ],
)
def test_results_that_cannot_be_written(tmp_path, out, code, told):
    command = "from epic.cli import main; main()"
    assert run(command, tmp_path, out=out, err=str(tmp_path / "err.txt"), arguments=["--version"]) == code
    assert (tmp_path / "err.txt").read_text() == told


def test_letters_that_a_stream_does_not_know(tmp_path):
    assert run(SCRIPT, tmp_path, out=str(tmp_path / "out.txt"), PYTHONIOENCODING="ascii") == 0
    assert (tmp_path / "out.txt").read_text() == "\\u03c0\n"
