"""Every example runs as it is, and what it writes and says is right."""

import contextlib
import csv
import importlib.util
import io
import json
import math
import os
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.image import imread
from scipy import stats

from epic import EPIC
from epic.data import lollipop
from epic.paths import EditPath
from epic.testing import AugmentationTester
from tests.view.test_page import data_of

EXAMPLES = Path(__file__).parents[1] / "examples"
GALLERY = "counterfactual distance drug_to_drug look_at_a_path offline your_own_cost your_own_method".split()
"""Scripts of cells, with pages on the site."""
SCRIPTS = [*GALLERY, *"drop_in molecules_csv nearest_neighbours compare_methods".split()]


def run(name, out, *arguments):
    """An example in this process, as if called from a shell; gives what it prints."""
    before, said = sys.argv, io.StringIO()
    sys.argv = [str(EXAMPLES / f"{name}.py"), "--out", str(out), *arguments]
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        sys.argv = before
    return said.getvalue()


def cells(name):
    """A script of the gallery; gives what it prints and its variables."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        found = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return said.getvalue(), found


def drawn(figure, path):
    figure.savefig(path)
    return not_blank(path)


def not_blank(picture):
    return bool(np.ptp(imread(picture)[..., :3]) > 0.5)


pytestmark = pytest.mark.slow


def test_all_examples_are_tested_and_short():
    assert sorted(p.stem for p in EXAMPLES.glob("*.py")) == sorted(SCRIPTS)
    for name in SCRIPTS:
        text = (EXAMPLES / f"{name}.py").read_text()
        assert len(text.splitlines()) <= 105
        assert text.startswith('"""')
        assert "You learn:" in text


def test_counterfactual(tmp_path):
    said, found = cells("counterfactual")
    answer = found["found"]
    assert (answer.before, answer.after) == (0, 1)
    assert "80 of 80 unseen graphs" in said
    assert len(found["new"]) == 1  # one more node in the clique, and nothing in the tail
    assert torch.bincount(answer.graph.edge_index[0])[min(found["new"])] >= 2
    assert sum(found["shares"]) < 0.5 * len(found["shares"])
    assert drawn(found["figure"], tmp_path / "f.png")


def test_drop_in(tmp_path):
    said = run("drop_in", tmp_path)
    losses = [float(v) for v in re.findall(r"loss (\S+)", said)]
    assert len(losses) == 10
    assert losses[-1] < 0.7 * losses[0]
    assert int(re.search(r"(\d+) of 100 test graphs", said)[1]) > 60  # chance is 25
    assert "of 48 graphs in a batch, 16 are new" in said
    saved = EPIC.load(tmp_path / "epic.safetensors")
    assert (saved.num_classes_, saved.ratio, saved.degree_features) == (4, 0.5, True)
    near, far = (saved.cost_.distance(*pair) for pair in _pairs())
    assert near < far


def _pairs():
    """Two graphs of one class, and two of different classes, with the example's features."""
    from torch_geometric.transforms import OneHotDegree

    graphs = [OneHotDegree(8, cat=False)(g) for g in lollipop(8, seed=5)]
    return (graphs[0], graphs[4]), (graphs[0], graphs[3])


def test_molecules_csv(tmp_path):
    chem = pytest.importorskip("rdkit.Chem")
    said = run("molecules_csv", tmp_path, "--epochs", "12")
    with (tmp_path / "molecules.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    acid = chem.MolFromSmarts("C(=O)[OX2H1]")
    assert len({chem.CanonSmiles(row["smiles"]) for row in rows}) == 64
    for row in rows:
        assert chem.MolFromSmiles(row["smiles"]).HasSubstructMatch(acid) == bool(int(row["label"])), row
    results = json.loads((tmp_path / "results.json").read_text())
    assert set(results) == {"vanilla", "epic"}
    for name, result in results.items():
        assert result["test"] > 0.55, name
        assert f"{name:<8} test ROC-AUC {result['test']:.3f}" in said
    page = data_of((tmp_path / "path.html").read_text(encoding="utf-8"))
    assert page["path"]["molecule"] is True
    assert len(page["path"]["ends"][0]) == 13  # aspirin, without hydrogen
    assert page["names"] == ["aspirin", "paracetamol"]


def test_distance(tmp_path):
    """Both ways to count edges find networkx's distance, and learning beats counting."""
    networkx = pytest.importorskip("networkx")
    said, found = cells("distance")
    ends = [networkx.lollipop_graph(m, 3) for m in (4, 6)]
    assert found["by_nodes"] == 2
    assert float(found["fast"]) == float(found["exact"]) == networkx.graph_edit_distance(*ends) == 11
    assert found["exact"].exact
    assert found["same_class"]["edits learned"] > 0.8 > 0.5 > found["same_class"]["edits counted"]  # chance is 0.25
    assert f"{found['same_class']['edits learned']:.0%} of 48" in said
    assert drawn(found["figure"], tmp_path / "figure.png")


def test_look_at_a_path(tmp_path):
    said, found = cells("look_at_a_path")
    path, operations = found["path"], found["path"].operations
    assert f"{len(path)} operations" in said
    assert sum(op.cost for op in operations) == pytest.approx(path.distance, rel=1e-4)
    assert [path.label(k).tolist() for k in (0, len(path))] == [[1, 0, 0, 0], [0, 0, 1, 0]]
    assert found["dearest"][0].cost == max(op.cost for op in operations)
    assert f"{path.fraction(len(path) // 2):.0%} of the cost is spent" in said
    # Nine nodes become nine: whatever is not substituted is deleted and inserted.
    for kinds in found["kinds"].values():
        assert kinds["substitute"] + kinds["delete"] == kinds["substitute"] + kinds["insert"] == 9
    assert drawn(found["strip"], tmp_path / "strip.png")


def test_drug_to_drug(tmp_path):
    """Every step and every augmented graph is a molecule that RDKit reads again from its SMILES."""
    chem = pytest.importorskip("rdkit.Chem", reason="molecules need the extra mol")
    from epic.view.molecule import fault, molecule_of

    said, found = cells("drug_to_drug")
    valid = found["paths"]["valid"]
    assert f"order valid: {len(valid) + 1} of {len(valid) + 1} graphs" in said
    assert not all(found["paths"]["random"].valid)
    told = [line.split()[-1] for line in said.splitlines()[2:]]
    assert told == [chem.CanonSmiles(smiles) for smiles in told]
    assert (told[0], told[-1]) == ("CC(=O)Nc1ccc(O)cc1", chem.CanonSmiles("CC(C)Cc1ccc(cc1)C(C)C(=O)O"))
    assert "CCC(=O)Oc1ccc(CC(C)C)cc1" in told  # the ester of the text
    assert len(found["new"]) == 6
    assert not any(fault(molecule_of(graph)) for graph in found["new"])
    assert drawn(found["figure"], tmp_path / "steps.png")
    assert drawn(found["pictures"], tmp_path / "new.png")


def test_nearest_neighbours(tmp_path):
    said = run("nearest_neighbours", tmp_path)
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["learned"] > 0.6 > scores["counted"]  # chance is 0.25
    assert f"edits learned: {scores['learned']:.0%}" in said
    distances = [float(v) for v in re.findall(r"nodes, distance (\S+)", said)]
    assert len(distances) == 3
    assert distances == sorted(distances)
    page = data_of((tmp_path / "why.html").read_text(encoding="utf-8"))["path"]
    assert page["distance"] == pytest.approx(distances[0], abs=1e-3)


def test_compare_methods(tmp_path):
    said = run("compare_methods", tmp_path, "--methods", "vanilla,drop_edge,epic", "--seeds", "1", "--epochs", "4")
    record = json.loads((tmp_path / "scores.json").read_text())
    scores = {name: np.array(values).mean(1) for name, values in record["scores"].items()}
    assert all(v.shape == (3,) for v in scores.values())
    assert f"vanilla: {scores['vanilla'].mean():.1%} of 64" in said
    ps = {}
    for name in ("drop_edge", "epic"):
        gap = scores[name] - scores["vanilla"]
        assert f"{name}: " in said
        assert f"{100 * gap.mean():+.1f} points" in said
        if np.ptp(gap) > 0:  # 64 graphs of each split train and 64 test
            t = gap.mean() / math.sqrt((1 / 3 + 64 / 64) * gap.var(ddof=1))
            ps[name] = 2 * stats.t.sf(abs(t), 2)
    smallest = min(ps, key=ps.get)
    assert record["corrected_p"][smallest] == pytest.approx(min(1.0, len(ps) * ps[smallest]))
    assert "it shows how to compare, not which method is good" in said


def test_your_own_method():
    _, found = cells("your_own_method")
    results = list(found["checked"].values())
    assert results.count("passed") > 50
    assert [r for r in results if r != "passed"] == ["skipped: it leaves degree features as they are"]
    assert abs(found["hidden"] - 0.3) < 0.05  # 1100 nodes: standard deviation 0.014
    assert found["method"].get_params()["p"] == 0.3
    assert min(found["scores"].values()) > 0.4  # chance is 0.25


def test_your_own_cost(tmp_path):
    """The cost lies between the edit distance with free edges and networkx's with edges at 1."""
    networkx = pytest.importorskip("networkx")
    said, found = cells("your_own_cost")
    ends = [networkx.lollipop_graph(m, 3) for m in (4, 6)]
    # A head of 6 has two nodes and nine edges more. Four nodes get two edges more, and two nodes get five.
    assert found["own"] == 2 * (1 + 5 / 2) + 4 * 2 / 2 == networkx.graph_edit_distance(*ends) == 11
    assert found["unit"] < found["own"] == found["loaded"] == found["path"].distance
    assert found["batch"].num_graphs == 36
    assert f"distance {found['own']:.3f}" in said
    assert drawn(found["strip"], tmp_path / "strip.png")


class TestMaskNodes(AugmentationTester):
    """The method of the example passes what every method must."""

    refuses = ("integer categories",)
    keeps_features = False  # masked rows are zero

    def method(self):
        if "your_own_method" not in sys.modules:  # by name, so that it can be sent to another process
            spec = importlib.util.spec_from_file_location("your_own_method", EXAMPLES / "your_own_method.py")
            module = sys.modules["your_own_method"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        return sys.modules["your_own_method"].MaskNodes(seed=0)


def test_offline():
    said, found = cells("offline")
    assert "wrote a shard of 88 graphs" in said
    assert (found["left"], found["same"]) == ([], True)
    made = found["made"]
    assert len(made) == 600
    assert sorted(p.name for p in found["folder"].glob("*.safetensors")) == [n for n, _ in made.planned()]
    labels = torch.cat([g.y for g in made])
    assert torch.allclose(labels.sum(1), torch.ones(600))
    assert bool(((labels > 0) & (labels < 1)).any())
    assert "trained on 700 graphs" in said
    assert found["right"] > 50


def test_the_notebook_runs(tmp_path, monkeypatch):
    book = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
    assert (book["nbformat"], len({c["id"] for c in book["cells"]})) == (4, len(book["cells"]))
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for number, cell in enumerate(c for c in book["cells"] if c["cell_type"] == "code"):
            exec(compile("".join(cell["source"]), f"tour.ipynb, code cell {number}", "exec"), names)
    assert isinstance(names["path"], EditPath)
    assert "<iframe" in names["path"]._repr_html_()
    assert names["batch"].num_graphs == 24
    made = [
        names[who].augment_batch(names["train"][:8], torch.Generator().manual_seed(0)) for who in ("again", "augment")
    ]
    assert torch.equal(made[0].y, made[1].y)
    assert re.search(r"positive *head +paper 0.07 +here 0\.\d\d", said.getvalue())
    assert not_blank(tmp_path / "path.png")
    assert not_blank(tmp_path / "costs.png")
    assert sorted(os.listdir(tmp_path)) == ["costs.png", "epic.safetensors", "path.png"]
