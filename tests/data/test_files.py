import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch

from epic import InputError
from epic.data import load, read_graphs, read_pt, write_graphs
from epic.packing import pack
from tests.graphs import random_graph
from tests.test_packing import same


def some(**kind):
    rng = np.random.default_rng(0)
    return [random_graph(rng, n, y=[n % 2], **kind) for n in (3, 5, 1, 4)]


@pytest.mark.parametrize("kind", [{}, {"x": "int", "edge_width": 0}, {"x": None, "edge_width": None}])
def test_our_own_form(tmp_path, kind):
    graphs = some(**kind)
    write_graphs(tmp_path / "g.safetensors", pack(graphs), note="hello")
    packed, header = read_graphs(tmp_path / "g.safetensors")
    assert header["note"] == "hello"
    for i, g in enumerate(graphs):
        same(packed.graph(i), g)
    assert load(tmp_path / "g.safetensors").outputs == 2


def test_a_list_of_pyg_graphs(tmp_path):
    torch.save(some(), tmp_path / "g.pt")
    packed = read_pt(tmp_path / "g.pt")
    for i, g in enumerate(some()):
        same(packed.graph(i), g)
    dataset = load(tmp_path / "g.pt")
    assert dataset.task == "classes"
    assert dataset.name == "g"


MARK = Path(tempfile.gettempdir()) / f"epic-evil-{os.getpid()}"


class Evil:
    def __reduce__(self):
        return os.system, (f"touch {MARK}",)


def test_a_pickle_with_code_is_not_run(tmp_path):
    torch.save([*some(), Evil()], tmp_path / "evil.pt")
    with pytest.raises(InputError, match="is not opened"):
        read_pt(tmp_path / "evil.pt")
    assert not MARK.exists()


def test_damaged_and_wrong_files(tmp_path):
    (tmp_path / "a.pt").write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"a\.pt"):
        read_pt(tmp_path / "a.pt")
    torch.save({"x": torch.ones(3)}, tmp_path / "b.pt")
    with pytest.raises(InputError, match="holds a dict, not a list"):
        read_pt(tmp_path / "b.pt")
    with pytest.raises(InputError, match="there is no file"):
        load(tmp_path / "c.pt")
    graphs = some()
    for g in graphs:
        g.y = torch.tensor([0])
    torch.save(graphs, tmp_path / "d.pt")
    with pytest.raises(InputError, match="one class only"):
        load(tmp_path / "d.pt")
