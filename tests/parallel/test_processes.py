import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from epic import InputError
from epic.parallel import execute
from tests.parallel.tasks import die_once, half, kill_at_zero, threads


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_every_task_once_and_errors_are_outcomes(workers):
    outcomes = list(execute(half, [2, 3, 4, 0], workers=workers))
    found = {o.task: o for o in outcomes}
    assert sorted(o.task for o in outcomes) == [0, 2, 3, 4]
    assert [found[i].value for i in (2, 4, 0)] == [1, 2, 0]
    assert found[3].value is None
    assert found[3].error.startswith("ValueError: 3 is odd")
    assert "half" in found[3].error  # where it happened
    assert all(o.seconds >= 0 for o in found.values())


@pytest.mark.slow
def test_workers_have_one_thread_each():
    before = torch.get_num_threads()
    assert [o.value for o in execute(threads, [0, 1], workers=2)] == [1, 1]
    assert torch.get_num_threads() == before


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(tmp_path):
    tasks = [(i, str(tmp_path)) for i in range(5)]
    found = sorted((o.task[0], o.value, o.error) for o in execute(die_once, tasks, workers=2))
    assert found == [(i, i, None) for i in range(5)]
    assert (tmp_path / "died").exists()


@pytest.mark.slow
def test_a_task_that_always_kills_its_worker_is_given_up():
    found = {o.task: o for o in execute(_kill, [0], workers=1)}
    assert found[0].error == "its process died 3 times"


def _kill(task):
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(10)


@pytest.mark.parametrize("workers", [0, 2])
def test_tasks_may_depend_on_outcomes(workers):
    """A feed that knows its second task only after the first is done."""
    done = []

    def feed():
        yield 8
        while not done:
            yield None
        yield done[0]

    for outcome in execute(half, feed(), workers=workers):
        done.append(outcome.value)
    assert done == [4, 2]


@pytest.mark.parametrize("ahead", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_tasks_wait_for_workers_only_where_they_may(ahead):
    handed, found = [], []

    def feed():
        for number in (2, 4, 6):
            handed.append(number)
            yield number

    for _ in execute(half, feed(), workers=1, ahead=ahead):
        found.append(len(handed))
    # With one that waits, the first two may both be done before the third is asked for.
    assert found[0] == 2 if ahead else found == [1, 2, 3]


def test_nothing_to_do(tmp_path):
    assert list(execute(half, [], workers=2)) == []
    assert Path(tmp_path).exists()


@pytest.mark.parametrize("workers", [-1, 10**9, 10**30, 1.5, "2", True])
def test_a_number_of_workers_that_cannot_be(workers):
    with pytest.raises(InputError, match=r"workers must be a whole number from 0 to \d+ on this machine, got "):
        execute(half, [2], workers=workers)


@pytest.mark.slow
def test_no_task_is_blamed_for_the_death_of_another():
    found = {o.task: o for o in execute(kill_at_zero, [0, 1, 2, 3], workers=2)}
    assert found[0].error == "its process died 3 times"
    assert [found[i].value for i in (1, 2, 3)] == [1, 2, 3]


HARNESS = """
from epic.parallel import execute
from tests.parallel.tasks import note_and_hold, note_and_wait
if __name__ == "__main__":
    list(execute({task}, [{folder!r}] * 2, workers=2))
"""


def harness(folder, task, ready):
    """Start two workers in a session of their own; return the process once so many workers are at work."""
    (folder / "harness.py").write_text(HARNESS.format(task=task, folder=str(folder)))
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-W", "default:resource_tracker", str(folder / "harness.py")],
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # in the background a shell ignores it
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.time() + 60
    while len(list(folder.glob("worker-*"))) < ready or len(members(process.pid)) < 2:
        assert time.time() < end
        time.sleep(0.02)
    return process


def members(session):
    """The processes of a session that are alive."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, owner = (place / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue  # it has just ended
        if int(owner) == session and state != "Z":
            found.append(int(place.name))
    return found


def gone(session, seconds):
    end = time.time() + seconds
    while members(session) and time.time() < end:
        time.sleep(0.05)
    return not members(session)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc, which Linux has")
@pytest.mark.parametrize("ready", [0, 2])
def test_workers_do_not_outlive_a_killed_harness(tmp_path, ready):
    """Not even for the time of a call that holds the interpreter's lock, or of an import."""
    process = harness(tmp_path, "note_and_hold", ready)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert gone(process.pid, 5), "workers are still there"
    process.stderr.close()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc, which Linux has")
@pytest.mark.parametrize("ready", [0, 2])
def test_ctrl_c_ends_workers_without_a_word_of_theirs(tmp_path, ready):
    process = harness(tmp_path, "note_and_wait", ready)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does
    said = process.communicate(timeout=20)[1]
    assert process.returncode == -signal.SIGINT
    assert said.count("Traceback") == said.count("KeyboardInterrupt") == 1, "the harness's own"
    assert "resource_tracker: " not in said  # its file may be where the harness was
    assert gone(process.pid, 5)
