import gzip
import os
from pathlib import Path

import pytest
import torch

from epic import InputError
from epic.data import read_ogb

FILES = {
    "raw/num-node-list": "2\n1\n",
    "raw/num-edge-list": "1\n0\n",
    "raw/node-feat": "5,0\n6,1\n7,0\n",
    "raw/edge": "0,1\n",
    "raw/edge-feat": "3,1,0\n",
    "raw/graph-label": "1,\n0,1\n",
    "split/scaffold/train": "0\n",
    "split/scaffold/valid": "1\n",
    "split/scaffold/test": "1\n",
}


def write(root: Path, **changes: str) -> Path:
    for name, text in (FILES | {k.replace("__", "/").replace("_", "-"): v for k, v in changes.items()}).items():
        path = root / "ogbg_moltiny" / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))
    return root


def test_a_tiny_set_by_hand(tmp_path):
    dataset = read_ogb(write(tmp_path), "ogbg-moltiny")
    assert dataset.graphs.sizes.tolist() == [2, 1]
    assert dataset.graphs.edge_index.tolist() == [[0, 1], [1, 0]]
    assert dataset.graphs.edge_attr.tolist() == [[3, 1, 0]] * 2
    assert torch.isnan(dataset.y[0, 1])
    assert dataset.y[1].tolist() == [0.0, 1.0]
    assert dataset.split.validation.tolist() == [1]


def test_damage_is_found(tmp_path):
    write(tmp_path, **{"raw__node-feat": "5,0\n"})
    with pytest.raises(InputError, match="has 1 lines, expected 3"):
        read_ogb(tmp_path, "ogbg-moltiny")
    (tmp_path / "ogbg_moltiny/raw/edge.csv.gz").write_bytes(b"junk")
    with pytest.raises(InputError, match="damaged"):
        read_ogb(tmp_path, "ogbg-moltiny")
    (tmp_path / "ogbg_moltiny/raw/edge.csv.gz").unlink()
    with pytest.raises(InputError, match="missing"):
        read_ogb(tmp_path, "ogbg-moltiny")
    with pytest.raises(InputError, match="there is no folder"):
        read_ogb(tmp_path, "ogbg-molnone")


TABLE = {
    "ogbg-molbbbp": (2039, 24.06, 25.95, (1631, 204, 204), 1560),
    "ogbg-molbace": (1513, 34.09, 36.86, (1210, 151, 152), 691),
    "ogbg-molhiv": (41127, 25.51, 27.47, (32901, 4113, 4113), 1443),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n == "ogbg-molhiv" else []) for n in TABLE]
)
def test_published_statistics(name):
    root = Path(os.environ.get("EPIC_DATA", "")) / "ogb"
    if not (root / name.replace("-", "_")).is_dir():
        pytest.skip(f"set EPIC_DATA to a folder with ogb/{name.replace('-', '_')} to test on real data")
    count, nodes, edges, parts, positive = TABLE[name]
    dataset = read_ogb(root, name)
    assert len(dataset) == count
    assert dataset.graphs.num_nodes / count == pytest.approx(nodes, abs=0.006)
    assert dataset.graphs.edge_index.shape[1] / 2 / count == pytest.approx(edges, abs=0.006)
    assert tuple(len(getattr(dataset.split, p)) for p in ("train", "validation", "test")) == parts
    assert int(dataset.y.sum()) == positive
