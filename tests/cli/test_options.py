import pytest

from epic import InputError
from epic._io import write_text
from epic.cli.options import need_writable
from epic.compare.times import seconds_of
from tests.cli.command import epic


def test_need_writable_changes_no_file(tmp_path):
    link, target, there = (tmp_path / name for name in ("link.html", "target.html", "there.html"))
    link.symlink_to(target)
    there.write_text("kept")
    for path in (link, there, tmp_path / "new.html"):
        assert need_writable(path) == path
    assert link.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.html", "there.html"]
    assert there.read_text() == "kept"
    link.unlink()
    link.symlink_to(tmp_path / "nowhere" / "x.html")
    with pytest.raises(InputError, match=r"cannot write .*link\.html: No such file"):
        need_writable(link)
    link.unlink()
    link.symlink_to(link)
    for write in (need_writable, lambda path: write_text(path, "")):
        with pytest.raises(InputError, match=r"cannot write .*link\.html: .*(loop|links)"):
            write(link)


@pytest.mark.parametrize(("text", "seconds"), [("45s", 45), ("1.5m", 90), ("2h", 7200), ("7", 7), ("0s", 0)])
def test_times(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["soon", "", "-5s", "nans", "inf", "5d"])
def test_what_is_no_time(text):
    with pytest.raises(InputError, match="a time is "):
        seconds_of(text)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("epochs: 1\nset: 5\n", 2, "set takes a mapping such as {name: value}, got '5'"),
        ("epochs: 1\nset: [1, 2]\n", 2, "set takes a mapping"),
        ("epochs:\n  a: 1\n", 1, "epochs takes one value, got"),
        ("epochs: 2020-01-01\n", 1, "epochs takes one value"),
        ("epochs: 2020-99-99\n", 1, "month must be in 1..12"),
        ("epochs: " + "9" * 5000 + "\n", 1, "4300"),
        ("\n\nset: &a\n  p: *a\n", 4, "anchors"),
        ("a: &a [1, 1]\nb: &b [*a, *a]\n", 2, "anchors"),
        ("epochs: 1\nset: " + "[" * 5000 + "\n", 2, "too deep"),
        ("\nmodel: 5\n", 2, "model takes a mapping"),
        ("cost:\n  epochs: [1, {}]\n  colour: 1\n", 3, "unknown option"),
    ],
)
def test_configs_that_cannot_be_are_refused_with_the_line(tmp_path, text, line, reason):
    (tmp_path / "c.yaml").write_text(text)
    run = epic("train", "MUTAG", "--config", str(tmp_path / "c.yaml"))
    assert run.returncode == 2
    assert f"c.yaml, line {line}" in run.stderr
    assert reason in run.stderr
    assert "Traceback" not in run.stderr


def test_a_config_without_end_is_refused():
    run = epic("train", "MUTAG", "--config", "/dev/zero")
    assert run.returncode == 2
    assert run.stderr.startswith("epic: the config /dev/zero has more than")
