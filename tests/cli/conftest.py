import pytest

from epic.data import write_graphs
from epic.data.lollipop import lollipop
from epic.graphs.convert import pack


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A small dataset of our own, in a file."""
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    write_graphs(tmp_path / "small.safetensors", pack(lollipop(60, seed=0)))
    return tmp_path / "small.safetensors"


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A CSV of molecules, with two columns to predict and a row that is no molecule."""
    pytest.importorskip("rdkit", reason="RDKit is not installed (extra 'mol')")
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    rows = [f"C1{'C' * (1 + i // 6)}C1{'ONS'[i % 3]},{i % 3},{i % 2}\n" for i in range(90)]  # 15 scaffolds
    (tmp_path / "mine.csv").write_text("smiles,kind,active\n" + "".join(rows) + "xyz,0,1\n")
    return tmp_path / "mine.csv"
