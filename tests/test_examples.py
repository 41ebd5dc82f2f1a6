"""Every example runs as it is, and what it writes and says is right."""

import base64
import contextlib
import copy
import csv
import importlib.util
import io
import json
import math
import os
import re
import runpy
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.image import imread
from scipy import stats

from epic.testing import AugmentationTester

EXAMPLES = Path(__file__).parents[1] / "examples"
GALLERY = (
    "compare_methods counterfactual distance drop_in drug_to_drug look_at_a_path molecules_csv nearest_neighbours "
    "offline your_own_cost your_own_method"
).split()
"""Scripts of cells, with pages on the site."""


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


def ignored():
    """The pattern in docs/conf.py of scripts that get no page."""
    text = (EXAMPLES.parent / "docs" / "conf.py").read_text()
    return "".join(re.findall(r'r"([^"]*)"', text.split('"ignore_pattern":')[1].split('"filename_pattern"')[0]))


def test_all_examples_are_tested_and_short():
    assert sorted(p.stem for p in EXAMPLES.glob("*.py")) == GALLERY
    assert [bool(re.match(ignored(), f"{name}.py")) for name in [*GALLERY, "other"]] == [False] * len(GALLERY) + [True]
    for name in GALLERY:
        text = (EXAMPLES / f"{name}.py").read_text()
        assert len(text.splitlines()) <= 130
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


@pytest.fixture(scope="module")
def drop_in():
    with warnings.catch_warnings():  # Lightning's advice on workers and devices
        warnings.filterwarnings("ignore", module="lightning")
        return cells("drop_in")


def test_drop_in(drop_in):
    said, found = drop_in
    assert list(found["right"])[:2] == ["plain", "with EPIC"]
    assert min(found["right"].values()) > 60  # of 100; chance is 25
    assert "of 64 graphs in a batch, 32 are new" in said
    assert torch.equal(found["loaded"].cost_.embed(found["again"]).embedding, found["embedding"])


def test_drop_in_trains_in_lightning(drop_in):
    """The module of the page learns from the batches that a loop learns from: mixed labels, 64 graphs."""
    pytest.importorskip("lightning", reason="the extra lightning is not installed")
    said, found = drop_in
    assert found["right"]["in Lightning"] > 60
    assert "after 40 steps" in said  # four batches, ten epochs
    batch, seen = next(iter(found["loader"])), []
    found["lit"].model.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    loss = found["lit"].training_step(batch, 0)
    assert seen[0].num_graphs == 64
    assert list(seen[0].y.shape) == [64, 4]
    assert batch.num_graphs == 32  # the loader's own batch stays
    shares = torch.nn.functional.log_softmax(found["lit"].model(seen[0]), 1) * seen[0].y
    assert float(loss.detach()) == pytest.approx(-float(shares.sum(1).mean().detach()), rel=1e-4)


def test_molecules_csv(tmp_path):
    chem = pytest.importorskip("rdkit.Chem")
    _, found = cells("molecules_csv")
    assert len(found["dataset"]) == 209
    assert set(found["dataset"].class_names) == {"hydrophilic", "lipophilic"}
    way, steps = found["way"], found["steps"]
    assert chem.CanonSmiles(found["source"].smiles) == steps[0]
    assert chem.CanonSmiles(found["target"].smiles) == steps[-1]
    assert len(steps) > 3
    assert sum(way.valid) > 0.8 * len(way)
    for name, result in found["results"].items():
        assert result.test > 0.6, name  # half is chance
    assert found["right"] > 35  # of 53; 27 are of the larger class
    assert found["batch"].y.shape == (found["batch"].num_graphs, 1)
    assert found["new"].numel() == found["batch"].num_graphs // 2
    assert 0 <= float(found["new"].min()) <= float(found["new"].max()) <= 1
    assert drawn(found["strip"], tmp_path / "strip.png")


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
    spent = sum(op.cost + sum(edge.cost for edge in op.edges) for op in operations)
    assert spent == pytest.approx(path.distance, rel=1e-4)
    assert [path.label(k).tolist() for k in (0, len(path))] == [[1, 0, 0, 0], [0, 0, 1, 0]]
    assert found["most_expensive"][0].cost == max(op.cost for op in operations)
    assert f"{path.fraction(len(path) // 2):.0%} of the cost is spent" in said
    assert {op.source for op in found["most_expensive"][:3]} <= {0, 1, 2, 3}, "the head is what classes are about"
    assert drawn(found["strip"], tmp_path / "strip.png")


def test_drug_to_drug(tmp_path):
    """Every step and every augmented graph is a molecule that RDKit reads again from its SMILES."""
    chem = pytest.importorskip("rdkit.Chem", reason="molecules need the extra mol")
    from epic.data.chemistry import fault, molecule_of

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
    said, found = cells("nearest_neighbours")
    scores = found["scores"]
    assert scores["neighbours, edits learned"] > 0.6 > scores["neighbours, edits counted"]  # chance is 0.25
    assert scores["kernel, edits learned"] > 0.6
    assert found["folds"].mean() < 0.6
    for name, table in found["tables"].items():
        own = int((table.argmin(1) == torch.arange(4)).sum())
        assert f"edits {name}: {own} of 4 classes are nearest to themselves" in said
        assert own == 4 if name == "learned" else own < 4
    distances = [each.distance for each in found["near"]]
    assert distances == sorted(distances)
    assert found["near"][0].path.distance == pytest.approx(distances[0], abs=1e-3)
    assert drawn(found["figure"], tmp_path / "f.png")


def test_compare_methods(tmp_path):
    """The intervals are those of the corrected resampled t-test over the runs that are kept."""
    pytest.importorskip("rdkit")
    said, found = cells("compare_methods")
    kept = [json.loads(line) for line in (found["folder"] / "runs.jsonl").read_text().splitlines()]
    runs = [r for r in kept if r["config"]["dataset"].endswith("molecules.csv")]
    scores: dict = {}
    for r in sorted(runs, key=lambda r: r["config"]["split_seed"]):
        if r["config"].get("network"):
            assert r["config"]["network"].startswith("__main__:Net@")
            scores.setdefault(r["config"]["method"], []).append(100 * r["test"])
    train, _, test = runs[0]["sizes"]
    assert f"{test} test molecules" in (EXAMPLES / "compare_methods.py").read_text()
    for study, k in ((found["three"], 3), (found["found"], 5)):
        for row in study.rows[1:3]:
            gap = np.subtract(scores[row.method], scores["vanilla"])[:k]
            reach = stats.t.ppf(0.975, k - 1) * math.sqrt((1 / k + test / train) * gap.var(ddof=1))
            assert row.difference.difference == pytest.approx(gap.mean())
            assert row.difference.high - row.difference.low == pytest.approx(2 * reach)
    assert len(kept) == 5 * 5 + 3 * 4 * 3  # three splits and one split are not run again
    assert "no evidence that it helps" in said
    assert "1 whole split is too few to judge by" in said
    assert "Score: accuracy" in said  # of the lollipops; molecules in the same file have a ROC-AUC
    plain, unit = found["curve"].curves[:2]
    assert [p.graphs for p in plain.points] == [48, 96, 192]
    assert [p.score for p in plain.points] == sorted(p.score for p in plain.points)
    assert "epic_unit with 96 graphs is as good as plain training with" in said
    assert len(unit.points) == 3
    assert "<svg" in (found["folder"] / "page.html").read_text(encoding="utf-8")
    assert drawn(found["figure"], tmp_path / "forest.png")
    assert drawn(found["learning_curve"], tmp_path / "curve.png")


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


def shown(cell, kind):
    """What a cell of a notebook shows of a kind, such as image/png."""
    return "".join("".join(o["data"][kind]) for o in cell["outputs"] if kind in o.get("data", {}))


def printed(cell):
    return "".join("".join(o["text"]) for o in cell["outputs"] if o.get("name") == "stdout")


def test_the_notebook_shows_what_it_says(tmp_path):
    """In a real kernel every cell runs, pictures and the page of the path are shown, and what is stored is the same."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("rdkit")
    shutil.copy(EXAMPLES / "molecules.csv", tmp_path)
    book = nbformat.read(EXAMPLES / "tour.ipynb", 4)
    nbformat.validate(book)
    stored = [c for c in copy.deepcopy(book)["cells"] if c["cell_type"] == "code"]
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(book, timeout=900, kernel_name="python3", resources=where).execute()
    made = [c for c in book["cells"] if c["cell_type"] == "code"]
    for book_cells in (stored, made):
        for cell in book_cells:
            assert not [o for o in cell["outputs"] if o["output_type"] == "error"]
            if "Image(" in cell["source"] and "import Image" not in cell["source"]:
                picture = base64.b64decode(shown(cell, "image/png"))
                assert np.ptp(imread(io.BytesIO(picture))[..., :3]) > 0.5  # not blank
        page = next(shown(c, "text/html") for c in book_cells if c["source"].endswith("\npath"))
        assert page.startswith("<iframe")
        assert "&lt;/html&gt;" in page  # it is whole
        said = "".join(map(printed, book_cells))
        assert re.search(r"positive *head +paper 0.07 +here 0\.\d\d", said)
        assert re.search(r"^epic .* 4/4 ", said, re.MULTILINE)
    names = {"path.png", "costs.png", "differences.png", "epic.safetensors", "compare.jsonl", "molecules.csv", "costs"}
    assert set(os.listdir(tmp_path)) == names


def test_the_molecules_are_what_they_are_said_to_be():
    """Labels are computed again, by the rule that the file is made by."""
    chem, crippen = pytest.importorskip("rdkit.Chem"), pytest.importorskip("rdkit.Chem.Crippen")
    path = EXAMPLES / "molecules.csv"
    assert path.stat().st_size < 20_000
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({chem.CanonSmiles(row["smiles"]) for row in rows}) == len(rows) == 209
    assert len({row["name"] for row in rows}) == len(rows)
    values = [crippen.MolLogP(chem.MolFromSmiles(row["smiles"])) for row in rows]
    middle = float(np.median(values))
    for row, value in zip(rows, values, strict=True):
        assert row["label"] == ("lipophilic" if value > middle else "hydrophilic"), row
