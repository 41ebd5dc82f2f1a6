import pytest

from epic import InputError
from epic.cli.options import need_writable, seconds_of


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


@pytest.mark.parametrize(("text", "seconds"), [("45s", 45), ("1.5m", 90), ("2h", 7200), ("7", 7), ("0s", 0)])
def test_times(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["soon", "", "-5s", "nans", "inf", "5d"])
def test_what_is_no_time(text):
    with pytest.raises(InputError, match="a time is "):
        seconds_of(text)
