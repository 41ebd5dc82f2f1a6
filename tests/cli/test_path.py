import pytest

from epic.data import write_graphs
from epic.data.lollipop import lollipop
from epic.graphs.convert import pack
from tests.cli.command import epic
from tests.view.test_page import data_of


@pytest.fixture
def small(tmp_path):
    write_graphs(tmp_path / "a<b>.safetensors", pack(lollipop(30, seed=0)))
    return tmp_path / "a<b>.safetensors"


def test_path_writes_a_page(small, tmp_path):
    run = epic("path", str(small), "0", "5", "--out", str(tmp_path / "path.html"))
    assert run.returncode == 0, run.stderr
    page = (tmp_path / "path.html").read_text(encoding="utf-8")
    assert "<title>a&lt;b&gt;: graph 0 to graph 5</title>" in page
    steps = data_of(page)["path"]["steps"]
    assert f"{steps} operations" in run.stdout
