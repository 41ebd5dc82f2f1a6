import re
import subprocess
import sys

import pytest

from epic import EPIC
from tests.cli.command import epic


@pytest.mark.slow
def test_demo_learns_prints_saves_and_draws(tmp_path):
    run = epic("demo", "--graphs", "80", "--epochs", "4", "--draws", "1", "--out", str(tmp_path / "d"))
    assert run.returncode == 0, run.stderr
    assert "head and head" in run.stdout
    curve = [
        line.split() for line in run.stdout.partition("edits learned")[2].splitlines() if line[:4].strip().isdigit()
    ]
    rows = [[float(v) for v in re.findall(r"[\d.]+", " ".join(line))] for line in curve]
    assert [row[0] for row in rows] == [20, 40, 80, 160]
    assert rows[-1][2] > rows[-1][1] + 20  # learned against counted, 160 graphs
    assert "learning costs" in run.stderr
    assert (tmp_path / "d" / "path.png").stat().st_size > 5000
    assert (tmp_path / "d" / "curve.png").stat().st_size > 5000
    assert EPIC.load(tmp_path / "d" / "lollipop.safetensors").num_classes_ == 4


def test_a_folder_that_cannot_be_made_ends_with_2(tmp_path):
    (tmp_path / "file").write_text("")
    run = epic("demo", "--out", str(tmp_path / "file" / "x"))
    assert run.returncode == 2
    assert run.stderr.startswith("epic: cannot write to")
    assert "Traceback" not in run.stderr


def test_help_loads_neither_torch_nor_matplotlib():
    code = "import sys\nfrom epic.cli import main\ntry:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    for verb in ((), ("train",), ("compare",), ("path",)):
        run = subprocess.run([sys.executable, "-c", code, *verb, "--help"], capture_output=True, text=True, check=True)
        assert "Usage" in run.stdout
        assert not {"torch", "matplotlib", "scipy", "numpy"} & set(run.stderr.split())
    assert "demo" in epic("--help").stdout
    assert epic("--version").stdout.startswith("epic-graph 0.")
