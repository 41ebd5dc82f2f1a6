import torch

from epic.data import write_graphs
from epic.data.lollipop import lollipop
from epic.graphs.convert import pack
from tests.cli.command import epic


def test_one_class_is_refused(small, tmp_path):
    graphs = pack(lollipop(8, heads=(4,), seed=0))
    write_graphs(tmp_path / "one.safetensors", graphs)
    run = epic("fit", str(tmp_path / "one.safetensors"), "--out", str(tmp_path / "c.safetensors"))
    assert run.returncode == 2
    assert "one class only" in run.stderr
    assert torch.equal(graphs.y, torch.zeros(8, dtype=torch.long))


def test_quiet_shows_results_alone_and_verbose_says_more(small, tmp_path):
    command = ("fit", str(small), "--epochs", "1", "--out", str(tmp_path / "c.safetensors"))
    usual, quiet = epic(*command), epic("-q", *command)
    assert usual.stdout == quiet.stdout
    assert "learning costs" in usual.stderr
    assert "graphs to learn from" in usual.stderr
    assert quiet.stderr == ""
    table = ("train", str(small), "--epochs", "1", "--out", str(tmp_path / "runs"))
    assert '"epochs":1' in epic("-v", *table).stderr
    assert '"epochs":1' not in epic(*table).stderr


def test_the_graphs_are_not_replaced_by_their_cost(small):
    before = small.read_bytes()
    run = epic("fit", str(small), "--out", str(small), "--epochs", "1")
    assert run.returncode == 2
    assert "which is needed; name another file" in run.stderr
    assert small.read_bytes() == before
