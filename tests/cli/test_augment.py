import pytest

from epic import LearnedCost, pack
from epic.data import Shards, write_graphs
from epic.testing import random_graphs
from tests.cli.command import epic, killed


@pytest.mark.slow
def test_augment_killed_and_started_again_gives_the_same_files(small, tmp_path):
    command = ["augment", str(small), "--set", "pairs=different", "--count", "15000", "--shard", "256"]
    command += ["--method", "epic_unit"]
    killed([*command, "--out", str(tmp_path / "a")], lambda: len(list((tmp_path / "a").glob("shard-*"))) >= 3)
    assert len(list((tmp_path / "a").glob("shard-*"))) < 59
    for place in ("a", "b"):
        run = epic(*command, "--out", str(tmp_path / place))
        assert run.returncode == 0, run.stderr
        assert "graphs/s" in run.stdout
        assert ("are there already" in run.stderr) == (place == "a")
    names = sorted(p.name for p in (tmp_path / "b").iterdir())
    assert sorted(p.name for p in (tmp_path / "a").iterdir() if not p.name.startswith(".")) == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    graphs = Shards(tmp_path / "a")
    assert len(graphs) == 15000
    assert graphs[7].y.shape == (1, 4)


def test_augment_makes_a_damaged_shard_again(small, tmp_path):
    command = ("augment", str(small), "--method", "epic_unit", "--count", "300", "--shard", "256", "--out", "a")
    assert epic(*command, cwd=tmp_path).returncode == 0
    path = tmp_path / "a" / "shard-00000.safetensors"
    before = path.read_bytes()
    path.write_bytes(before[:-10])
    run = epic(*command, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "44 of 300 graphs are there already" in run.stderr
    assert "shard-00000.safetensors is damaged: it is made again" in run.stderr
    assert path.read_bytes() == before


def test_graphs_that_a_cost_does_not_know_end_in_a_sentence(small, tmp_path):
    LearnedCost().fit(random_graphs(12), epochs=1, progress=False).save(tmp_path / "other.safetensors")
    run = epic("augment", str(small), "--cost", "other.safetensors", "--count", "10", "--out", "a", cwd=tmp_path)
    assert run.returncode == 2
    assert "x has 8 float columns, but the network was made for 3" in run.stderr
    assert "Traceback" not in run.stderr
    assert "shard" not in run.stderr


def test_a_part_without_graphs_reserves_no_folder(tmp_path):
    write_graphs(tmp_path / "two.safetensors", pack(random_graphs(2)))
    options = ("--method", "epic_unit", "--split", "stratified", "--count", "3", "--out", "a")
    run = epic("augment", "two.safetensors", *options, cwd=tmp_path)
    assert run.returncode == 2
    assert "this split of 2 graphs leaves 0 to train" in run.stderr
    assert not (tmp_path / "a").exists()
