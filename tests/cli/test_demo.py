import os
import subprocess
import sys

from epic import EPIC


def epic(*arguments, cwd=None):
    command = [sys.executable, "-c", "from epic.cli import main; main()", *arguments]
    # One thread: the graphs are tiny, and idle threads would spin on a busy machine.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)


def test_demo_learns_prints_saves_and_draws(tmp_path):
    run = epic("demo", "--graphs", "80", "--epochs", "4", "--out", str(tmp_path / "d"))
    assert run.returncode == 0, run.stderr
    assert "head-head" in run.stdout
    assert "learning costs" in run.stderr
    assert (tmp_path / "d" / "path.png").stat().st_size > 5000
    assert EPIC.load(tmp_path / "d" / "lollipop.safetensors").classes == 4


def test_a_folder_that_cannot_be_made_ends_with_2(tmp_path):
    (tmp_path / "file").write_text("")
    run = epic("demo", "--out", str(tmp_path / "file" / "x"))
    assert run.returncode == 2
    assert run.stderr.startswith("epic: cannot write to")
    assert "Traceback" not in run.stderr


def test_help_loads_neither_torch_nor_matplotlib():
    code = (
        "import sys\nfrom epic.cli import app\nprint([m for m in ('torch', 'matplotlib', 'scipy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
    assert "demo" in epic("--help").stdout
    assert epic("--version").stdout.startswith("epic-graph 0.")
