import pytest
import torch

from epic import InputError
from epic.data import read_tu

FILES = {
    "A": "1, 2\n2, 1\n2, 1\n3, 3\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n3\n",
    "graph_labels": "-1\n1\n1\n",
    "node_labels": "5\n9\n5\n9\n9\n5\n",
    "edge_labels": "0\n0\n0\n2\n2\n2\n",
}


def write(folder, **changes):
    for name, text in (FILES | changes).items():
        if text is not None:
            (folder / f"TINY_{name}.txt").write_text(text)


def test_a_tiny_set_by_hand(tmp_path):
    write(tmp_path)
    packed = read_tu(tmp_path, "TINY")
    assert packed.sizes.tolist() == [3, 2, 1]  # isolated nodes count
    assert packed.edge_index.tolist() == [[0, 1, 3, 4], [1, 0, 4, 3]]  # doubled edges merged, self-loop dropped
    assert packed.y.tolist() == [0, 1, 1]
    assert packed.x.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0]]
    assert packed.edge_attr.argmax(1).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": "1, 2\n2, x\n"}, "damaged"),
        ({"A": "1, 2\n2\n"}, "3 numbers in 2 lines"),
        ({"A": "1, 4\n"}, "line 1: an edge joins two graphs"),
        ({"A": "1, 99\n"}, "names node 99, but there are 6"),
        ({"node_labels": "1\n"}, "has 1 lines, expected 6"),
        ({"graph_indicator": "1\n1\n9\n2\n2\n3\n"}, "does not number the 3 graphs"),
        ({"graph_labels": None}, "graph_labels.txt is missing"),
        ({"A": None}, "there is no TINY_A.txt"),
    ],
)
def test_damaged_files_say_what_and_where(tmp_path, changes, message):
    write(tmp_path, **changes)
    with pytest.raises(InputError, match=message):
        read_tu(tmp_path, "TINY")


TABLE = {  # data sets as published: graphs, mean nodes, mean edges, node labels, edge labels
    "MUTAG": (188, 17.93, 19.79, 7, 4),
    "BZR": (405, 35.75, 38.36, 10, 0),
    "IMDB-BINARY": (1000, 19.77, 96.53, 0, 0),
    "NCI1": (4110, 29.87, 32.30, 37, 0),
    "Mutagenicity": (4337, 30.32, 30.77, 14, 3),
}


@pytest.mark.parametrize("name", TABLE)
def test_published_statistics(tu_folder, name):
    count, nodes, edges, labels, bonds = TABLE[name]
    packed = read_tu(tu_folder, name)
    assert len(packed) == count
    assert packed.num_nodes / count == pytest.approx(nodes, abs=0.005)
    assert packed.edge_index.shape[1] / 2 / count == pytest.approx(edges, abs=0.005)
    assert (0 if packed.x is None else packed.x.shape[1]) == labels
    assert (0 if packed.edge_attr is None else packed.edge_attr.shape[1]) == bonds
    back = packed.edge_index.flip(0)
    assert torch.equal(
        (back[0] * packed.num_nodes + back[1]).sort().values,
        packed.edge_index[0] * packed.num_nodes + packed.edge_index[1],
    )
