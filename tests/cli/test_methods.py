from epic.augment import METHODS
from epic.train.config import default_settings
from tests.cli.command import epic


def test_methods_lists_every_method():
    run = epic("methods", "--papers", "--grids")
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    for name in METHODS:
        assert any(line.split(" ")[0] == name for line in lines), name


def test_methods_explains_the_settings_of_one():
    run = epic("methods", "drop_edge")
    assert run.returncode == 0, run.stderr
    assert [line.split()[:2] for line in run.stdout.splitlines()[1:]] == [
        [name, str(value)] for name, value in default_settings("drop_edge").items()
    ]
    assert epic("methods", "drop_edges").returncode == 2
