import pytest

from epic.data import Shards
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
