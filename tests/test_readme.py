"""The snippets of README and guide run in order."""

import doctest
import re
from pathlib import Path

import pytest
import torch
from torch.nn import functional
from torch_geometric.loader import DataLoader
from torch_geometric.nn import global_add_pool

from epic.data import lollipop
from epic.graphs.convert import pack
from epic.train import backbone_for

ROOT = Path(__file__).parents[1]
README = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/guide.md"))


def graphs(count, seed):
    made = lollipop(count, heads=(3, 5), seed=seed)
    for g in made:
        g.x = torch.randn(g.num_nodes, 3, generator=torch.Generator().manual_seed(seed))
    return made


class MyNet(torch.nn.Module):
    """The sums of nodes, weighted: a network of the user's own."""

    def __init__(self, columns, outputs):
        super().__init__()
        self.out = torch.nn.Linear(columns, outputs)

    def forward(self, batch):
        return self.out(global_add_pool(batch.x, batch.batch))


class BySize(torch.nn.Module):
    """Class 1 from ten nodes on, so that there is something to explain."""

    def forward(self, batch):
        score = torch.bincount(batch.batch) - 9.5
        return torch.stack([-score, score], dim=1)


@pytest.mark.slow
def test_the_snippets_run(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="one snippet needs RDKit (extra 'mol')")
    monkeypatch.chdir(tmp_path)
    train, test = graphs(20, 0), graphs(6, 1)
    backbone = backbone_for(pack(train), outputs=2, hidden_channels=8, num_layers=2)
    names = {
        "F": functional,
        "train": train,
        "test": test,
        "loader": DataLoader(train, batch_size=8),
        "model": BySize(),
        "backbone": backbone,
        "network": backbone,
        "validation": graphs(12, 2),
        "g1": test[0],
        "g2": test[1],
        "k": 2,
        "graphs": graphs(40, 3),
        "MyNet": MyNet,
    }
    snippets = re.findall(r"```python\n(.*?)```", README, re.S)
    assert len(snippets) == 9
    for number, snippet in enumerate(snippets):
        shorter = snippet.replace('budget="10m"', 'budget="10s", results="runs.jsonl"')
        exec(compile(shorter, f"README.md and guide.md, snippet {number}", "exec"), names)
    assert names["value"].requires_grad
    assert names["indices"].shape == (6, names["model"].n_neighbors_)
    assert {"epic.safetensors", "path.html", "path.png", "runs.jsonl"} <= {p.name for p in tmp_path.iterdir()}


@pytest.mark.slow
def test_the_first_ten_minutes_give_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", text, re.S))
    test = doctest.DocTestParser().get_doctest(examples, {}, "start.md", "docs/start.md", 0)
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert found.failed == 0
    assert found.attempted > 15
