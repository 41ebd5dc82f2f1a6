import json
import re
import shutil
import time

import pytest

from tests.cli.command import epic
from tests.train import nets


@pytest.mark.slow
def test_compare_gives_a_verdict_and_goes_on(small, tmp_path):
    command = ("compare", str(small), "--methods", "epic_unit", "--seeds", "1", "--tune", "0", "--epochs", "2")
    run = epic(*command, "--splits", "3", "--budget", "0s", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "no finished runs yet" in run.stdout
    assert "Some of the planned runs are missing" in run.stdout
    run = epic(*command, "--splits", "3", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "3/3" in run.stdout
    assert "too few" not in run.stdout
    assert "This is a part" not in run.stdout


@pytest.mark.slow
def test_a_budget_answers_on_a_table_of_molecules(table, tmp_path):
    """Within the time and a run there is a verdict with an interval, and the page says what was cut."""
    call = ("--methods", "drop_edge", "--target", "active", "--epochs", "8", "--page", "p.html")
    small = ("--model", "hidden_channels=8", "--model", "num_layers=1", "--model", "hidden=8")
    start = time.monotonic()
    run = epic("compare", str(table), *call, *small, "--budget", "60s", cwd=tmp_path)
    took = time.monotonic() - start
    assert run.returncode == 0, run.stderr
    records = [json.loads(line) for line in (tmp_path / "compare.jsonl").read_text().splitlines()]
    assert took < 60 + max(r["seconds_in_all"] for r in records) + 30  # to start processes takes time, too
    assert re.search(r"drop_edge: .*, 95 % interval -?[\d.]+ to -?[\d.]+", (tmp_path / "p.html").read_text())
    assert re.search(r"(To fit in|All that was asked for fits in) 60 s", run.stdout + run.stderr)


def test_one_network_is_named_or_the_backbone_is_changed(small, tmp_path):
    run = epic("compare", str(small), "--model", "nets:Net", "--model", "pool=mean", cwd=tmp_path)
    assert run.returncode == 2
    assert "--model names one network, or changes the backbone, got nets:Net, pool=mean" in run.stderr
    run = epic("compare", str(small), "--model", "no_such_nets:Net", cwd=tmp_path)
    assert run.returncode == 2
    assert "cannot import no_such_nets" in run.stderr


@pytest.mark.slow
def test_a_network_in_the_current_folder_is_used(small, tmp_path):
    shutil.copy(nets.__file__, tmp_path / "my_own_nets.py")
    call = ("--methods", "drop_edge", "--splits", "1", "--seeds", "1", "--tune", "0", "--epochs", "1")
    run = epic("compare", str(small), *call, "--model", "my_own_nets:OnParts", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert '"network": "my_own_nets:OnParts@' in (tmp_path / "compare.jsonl").read_text()


@pytest.mark.slow
def test_a_quick_look_is_soon_over_and_no_result(small, tmp_path):
    run = epic("compare", str(small), "--methods", "drop_edge", "--quick", "--page", "p.html", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("A quick look (--quick): few epochs and runs.")
    assert "no result" in next(line for line in run.stdout.splitlines() if line.startswith("drop_edge"))
    records = [json.loads(line) for line in (tmp_path / "compare.jsonl").read_text().splitlines()]
    assert len(records) == 2 * 3
    assert {r["epochs"] for r in records if "epochs" in r} == {5}
    assert "A quick look (--quick)" in (tmp_path / "p.html").read_text()
