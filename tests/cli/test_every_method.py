"""``epic train`` with every method: on a TU set, on molecules as OGB has them, on lollipops."""

import csv
import json
import os

import pytest

from epic.augment import METHODS
from tests.cli.command import epic

pytestmark = pytest.mark.slow

AVERAGES = {"g_mixup", "s_mixup", "if_mixup", "fgw_mixup", "geo_mix"}
"""Methods that average features, which categories do not have."""


def train(dataset, method, folder):
    if method in ("fgw_mixup", "geo_mix"):
        pytest.importorskip("ot", reason="the extra `ot` is not installed")
    quick = ["--epochs", "1", "--batch-size", "32", "--cost-epochs", "1", "--split", "stratified"]
    if method == "s_mixup":
        quick += ["--fit-epochs", "1"]
    return epic("train", str(dataset), "--method", method, *quick, "--out", str(folder))


def check(run, folder, method):
    assert run.returncode == 0, run.stderr
    (result,) = folder.glob("*/result.json")
    record = json.loads(result.read_text())
    assert record["config"]["method"] == method
    assert 0 <= record["test"] <= 1


@pytest.mark.parametrize("method", METHODS)
def test_on_lollipops(small, tmp_path, method):
    check(train(small, method, tmp_path / "runs"), tmp_path / "runs", method)


@pytest.mark.parametrize("method", METHODS)
def test_on_a_tu_set_with_edge_attributes(tmp_path, method, tu_folder):
    check(train("MUTAG", method, tmp_path / "runs"), tmp_path / "runs", method)
    assert os.environ["EPIC_DATA"]


@pytest.mark.parametrize("method", METHODS)
def test_on_molecules_with_categories(tmp_path, method):
    """Integer atom and bond features, as in OGB's sets: a method works, or says why it cannot."""
    pytest.importorskip("rdkit", reason="the extra `mol` is not installed")
    rings = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCOC1", "c1ccsc1", "C1CCNCC1", "c1ccoc1", "C1CCC1"]
    tails = ["O", "N", "Cl", "CC", "C(=O)O", "CO", "C#N", "F"]
    with (tmp_path / "m.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["smiles", "label"])
        for i, ring in enumerate(rings):
            for j, tail in enumerate(tails):
                writer.writerow([tail + ring if j % 2 else "C" + ring, (i + j) % 2])
    run = train(tmp_path / "m.csv", method, tmp_path / "runs")
    if method in AVERAGES:
        assert run.returncode == 2
        assert "holds torch.int64 categories" in run.stderr
        assert "Traceback" not in run.stderr
    else:
        check(run, tmp_path / "runs", method)
