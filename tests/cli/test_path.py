import re

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
    steps = data_of(page)["entry"]["ways"][0]["steps"]
    assert f"{steps} operations" in run.stdout


def test_path_by_row_and_by_name(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="RDKit is not installed (extra 'mol')")
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    own = tmp_path / "own.csv"
    own.write_text("id;smiles;outcome\nb<1>;CCO;active\nbad;xyz;active\nb3;CCCO;inactive\n")
    run = epic("path", str(own), "2", "b<1>", "--out", str(tmp_path / "path.html"))
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("from  b3 (row 2): CCCO\nto    b<1> (row 0): CCO\n")
    assert "100.0% of cost   active 1.00" in run.stdout
    page = (tmp_path / "path.html").read_text(encoding="utf-8")
    assert "<title>own: b3 (row 2) to b&lt;1&gt; (row 0)</title>" in page
    data = data_of(page)["entry"]
    assert data["smiles"] == ["CCCO", "CCO"]
    assert data["names"] == ["b3 (row 2)", "b<1> (row 0)"]
    assert data["ways"][0]["label"]["names"] == ["inactive", "active"]
    run = epic("path", str(own), "1", "2")
    assert (run.returncode, run.stderr.splitlines()[-1]) == (
        2,
        "epic: row 1 of own was left out: its molecule could not be read",
    )
    run = epic("gallery", str(own), "--pairs", "2", "--out", str(tmp_path / "gallery.html"))
    assert run.returncode == 0, run.stderr
    (shown,) = data_of((tmp_path / "gallery.html").read_text(encoding="utf-8"))["entries"]
    assert sorted(shown["names"]) == ["b3 (row 2)", "b<1> (row 0)"]
    assert sorted(shown["classes"]) == ["active", "inactive"]


def test_help_says_how_rows_are_counted():
    assert "Rows are counted from 0" in " ".join(epic("path", "--help").stdout.replace("│", " ").split())


def test_a_path_without_labels(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="RDKit is not installed (extra 'mol')")
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    (tmp_path / "own.smi").write_text("CCO ethanol\nCCC propane\n")
    run = epic("path", str(tmp_path / "own.smi"), "ethanol", "propane")
    assert run.returncode == 0, run.stderr
    assert "label" not in run.stdout


def test_a_path_of_valid_molecules(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="RDKit is not installed (extra 'mol')")
    monkeypatch.setenv("EPIC_CACHE", str(tmp_path / "cache"))
    (tmp_path / "own.smi").write_text("Cc1ccccc1 toluene\nOc1ccccc1 phenol\n")
    run = epic("path", str(tmp_path / "own.smi"), "toluene", "phenol", "--matching", "edges", "--order", "valid")
    assert run.returncode == 0, run.stderr
    *_, last, summary = run.stdout.splitlines()
    assert last.endswith("100.0% of cost      Oc1ccccc1")
    assert summary == "8 of 8 graphs are valid molecules"


def test_only_molecules_can_stay_valid(small):
    run = epic("path", str(small), "0", "1", "--order", "valid")
    assert run.returncode == 2
    assert "not known to be molecules" in run.stderr


def test_path_with_edges(small):
    run = epic("path", str(small), "0", "1", "--matching", "edges", "--edge-price", "1")
    assert run.returncode == 0, run.stderr
    assert " edge" in run.stdout.split("EditPath")[1]
    nodes = epic("path", str(small), "0", "1")
    cost = [float(re.search(r"distance ([\d.]+)", r.stdout)[1]) for r in (run, nodes)]
    assert cost[0] > cost[1]
    assert epic("path", str(small), "0", "1", "--matching", "edge").returncode == 2


def test_other_ways_and_atoms_are_drawn(tmp_path, tu_copy):
    run = epic("path", str(tu_copy), "0", "1", "--others", "edges,bfs", "--out", str(tmp_path / "path.html"))
    assert run.returncode == 0, run.stderr
    ways = data_of((tmp_path / "path.html").read_text(encoding="utf-8"))["entry"]["ways"]
    titles = [w["title"] for w in ways]
    assert titles == ["nodes matched, order random", "edges matched, order random", "nodes matched, order bfs"]
    assert not ways[0]["molecule"]
    run = epic("path", str(tu_copy), "0", "1", "--atoms", "N,C", "--out", str(tmp_path / "path.html"))
    assert run.returncode == 0, run.stderr
    (way,) = data_of((tmp_path / "path.html").read_text(encoding="utf-8"))["entry"]["ways"]
    assert {t[0] for t in way["tags"]} == {"N", "C"}
    for words, says in (
        (("--others", "sideways"), "unknown way 'sideways'"),
        (("--atoms", "C,Xx"), "'Xx' is no chemical element"),
        (("--atoms", "C,N,O"), "has 2 node labels, and 3 elements were given"),
    ):
        run = epic("path", str(tu_copy), "0", "1", *words)
        assert run.returncode == 2
        assert says in run.stderr


@pytest.fixture
def tu_copy(tmp_path):
    """Two small graphs in TU format, without a map of labels."""
    folder = tmp_path / "TOY"
    folder.mkdir()
    files = {"A": "1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4", "graph_indicator": "1\n1\n2\n2\n2"}
    files |= {"graph_labels": "0\n1", "node_labels": "4\n7\n4\n4\n7"}
    for what, text in files.items():
        (folder / f"TOY_{what}.txt").write_text(text + "\n")
    return folder
