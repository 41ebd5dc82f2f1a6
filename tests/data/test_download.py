import functools
import http.server
import io
import threading
import zipfile

import pytest

from epic import InputError
from epic.data import catalog, tudataset
from epic.data.download import fetch, unpack
from tests.data.test_tudataset import FILES


@pytest.fixture
def server(tmp_path):
    """A web server on this machine alone, serving the folder ``www``."""
    www = tmp_path / "www"
    www.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(www)))
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield www, f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()


def archive(members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    return data.getvalue()


def test_a_set_is_fetched_parsed_and_then_found(server, tmp_path, monkeypatch):
    www, url = server
    (www / "MUTAG.zip").write_bytes(archive({f"MUTAG/MUTAG_{k}.txt": v for k, v in FILES.items()}))
    monkeypatch.setattr(tudataset, "URL", url)
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EPIC_DATA", raising=False)
    assert not catalog.is_here("MUTAG")
    with pytest.raises(InputError, match="downloads are off"):
        catalog.load("MUTAG", download=False)
    assert len(catalog.load("MUTAG", progress=False)) == 3
    assert catalog.is_here("MUTAG")
    (www / "MUTAG.zip").unlink()
    assert len(catalog.load("MUTAG")) == 3
    (www / "PTC_MR.zip").write_bytes(archive({"PTC_MR/readme.txt": "nothing here"}))
    with pytest.raises(InputError, match=r"PTC_MR\.zip holds no PTC_MR_A\.txt"):
        catalog.load("PTC_MR", progress=False)


@pytest.mark.parametrize("name", ["../evil.txt", "/tmp/evil.txt", "a/../../evil.txt"])
def test_nothing_leaves_the_folder(tmp_path, name):
    path = tmp_path / "a.zip"
    path.write_bytes(archive({"good.txt": "x", name: "evil"}))
    with pytest.raises(InputError, match="leads out of its folder"):
        unpack(path, tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def zipped(path, build, mode=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", mode) as file:
        build(file)
    return path


def a_link(file):
    member = zipfile.ZipInfo("link")
    member.external_attr = 0o120777 << 16
    file.writestr(member, "/etc/passwd")


def a_clash(file):
    file.writestr("a", "file")
    file.writestr("a/b", "in a file")


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (a_link, "'link', which leads out of its folder"),
        (a_clash, "a"),
        (lambda file: file.writestr("bomb.txt", b"0" * 50_000_000), "would unpack to 50000000 bytes"),
    ],
)
def test_archives_of_other_kinds_are_refused(tmp_path, build, reason):
    with pytest.raises(InputError, match=rf"a\.zip is damaged or holds something else \(.*{reason}.*\): try again"):
        unpack(zipped(tmp_path / "a.zip", build), tmp_path / "out")
    assert not (tmp_path / "out" / "link").exists()
    assert not (tmp_path / "out" / "bomb.txt").exists()


def test_an_answer_without_end_is_cut(server, tmp_path, monkeypatch):
    www, url = server
    (www / "long.zip").write_bytes(b"0" * 100_000)
    monkeypatch.setattr("epic.data.download.MOST_BYTES", 50_000)
    with pytest.raises(InputError, match="is longer than 50000 bytes: not fetched"):
        fetch(f"{url}/long.zip", folder=tmp_path / "cache", name="long", progress=False)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_broken_download_leaves_nothing(server, tmp_path):
    www, url = server
    (www / "half.zip").write_bytes(archive({"X/a.txt": "x" * 5000})[:-30])
    with pytest.raises(InputError, match=r"archive\.zip is damaged"):
        fetch(f"{url}/half.zip", folder=tmp_path / "cache", name="half", progress=False)
    assert list((tmp_path / "cache").iterdir()) == []
    with pytest.raises(InputError, match="answered 404"):
        fetch(f"{url}/none.zip", folder=tmp_path / "cache", name="none", progress=False)
    with pytest.raises(InputError, match="cannot reach"):
        fetch("http://127.0.0.1:9/x.zip", folder=tmp_path / "cache", name="x", progress=False)
    assert list((tmp_path / "cache").iterdir()) == []
