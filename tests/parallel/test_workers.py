import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
from epic.parallel import execute
from tests.parallel.tasks import half
{lines}
"""


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ("list(execute(half, [2], workers=1))", "RuntimeError: An attempt has been made to start a new process before"),
        (
            "if __name__ != '__main__': raise KeyError('nothing of this name')\nlist(execute(half, [2], workers=1))",
            "KeyError: 'nothing of this name'",
        ),
    ],
)
def test_a_script_without_a_main_guard_is_told_what_to_do(tmp_path, lines, cause):
    (tmp_path / "script.py").write_text(SCRIPT.format(lines=lines))
    root = Path(__file__).parents[2]
    path = f"{root / 'src'}{os.pathsep}{root}"
    run = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 1
    last = run.stderr.splitlines()[-1]
    assert last.startswith("epic.errors.InputError: worker processes cannot start. ")
    assert 'put the call under `if __name__ == "__main__":`' in last
    assert cause in last
    assert "died" not in run.stderr
