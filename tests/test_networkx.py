import networkx as nx
import numpy as np
import pytest

from epic import InputError
from epic.networkx import graph_edit_distance


def two(seed, directed=False, most=5):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        net = nx.gnp_random_graph(
            int(rng.integers(0, most + 1)),
            float(rng.choice([0.2, 0.5, 0.8])),
            seed=int(rng.integers(1e9)),
            directed=directed,
        )
        for node in net:
            net.nodes[node]["label"] = str(rng.choice(["a", "b"]))
        for edge in net.edges:
            net.edges[edge]["weight"] = float(rng.choice([1, 2, 3.5]))
        made.append(net)
    return made


ARGUMENTS = [
    {},
    {"node_match": lambda a, b: a == b, "edge_match": lambda a, b: a == b},
    {
        "node_subst_cost": lambda a, b: 0.3 * (a != b),
        "node_del_cost": lambda a: 0.7 if a["label"] == "a" else 0.2,
        "node_ins_cost": lambda b: 1.1,
        "edge_subst_cost": lambda a, b: abs(a["weight"] - b["weight"]),
        "edge_del_cost": lambda a: a["weight"] / 2,
        "edge_ins_cost": lambda b: b["weight"] / 3,
    },
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=["none", "matches", "costs"])
@pytest.mark.parametrize("directed", [False, True])
def test_the_same_as_networkx(arguments, directed):
    near = 0
    for seed in range(40):
        ends = two(seed, directed)
        true = nx.graph_edit_distance(*ends, **arguments)
        found = graph_edit_distance(*ends, **arguments)
        assert found == pytest.approx(true), seed
        assert found.exact
        fast = graph_edit_distance(*ends, **arguments, method="edges")
        assert fast.lower <= true + 1e-9
        assert fast >= true - 1e-9
        low = graph_edit_distance(*ends, **arguments, method="hausdorff")
        assert low <= true + 1e-9
        near += fast < true + 1e-9
    assert near >= 39


def test_its_own_examples():
    assert graph_edit_distance(nx.cycle_graph(6), nx.wheel_graph(7)) == 7
    star = nx.star_graph(5)
    assert graph_edit_distance(star, star, roots=(0, 0)) == 0
    assert graph_edit_distance(star, star, roots=(1, 0)) == 8


@pytest.mark.parametrize("seed", range(6))
def test_roots_are_matched(seed):
    one, other = two(seed + 100)
    one.add_node("r", label="a")
    other.add_node("s", label="b")
    one.add_edges_from([("r", k) for k in list(one)[:2] if k != "r"], weight=1.0)
    found = graph_edit_distance(one, other, roots=("r", "s"))
    assert found == nx.graph_edit_distance(one, other, roots=("r", "s"))
    assert found.match[list(one).index("r")] == list(other).index("s")


def test_an_upper_bound_and_a_time_limit():
    one, other = nx.path_graph(4), nx.complete_graph(4)
    assert graph_edit_distance(one, other, upper_bound=2) is None
    assert graph_edit_distance(one, other, upper_bound=3) == 3
    large = nx.gnp_random_graph(25, 0.3, seed=1), nx.gnp_random_graph(25, 0.3, seed=2)
    found = graph_edit_distance(*large, timeout=0.1)
    assert not found.exact
    assert found.lower < found


def test_a_loop_becomes_a_loop_only():
    """networkx lets it become any edge, which leaves a graph that is not the target."""
    assert graph_edit_distance(nx.Graph([(0, 0)]), nx.Graph([(0, 1)])) == 3
    assert graph_edit_distance(nx.Graph([(0, 0)]), nx.Graph([(0, 0), (0, 1)])) == 2


def test_wrong_arguments_are_named():
    path = nx.path_graph(3)
    with pytest.raises(InputError, match="expected a networkx graph, got list"):
        graph_edit_distance(path, [])
    with pytest.raises(InputError, match="one graph is directed"):
        graph_edit_distance(path, nx.DiGraph([(0, 1)]))
    with pytest.raises(InputError, match="a multigraph"):
        graph_edit_distance(nx.MultiGraph(path), nx.MultiGraph(path))
    with pytest.raises(InputError, match=r"a node price is -1\.0"):
        graph_edit_distance(path, path, node_del_cost=lambda a: -1)
    with pytest.raises(InputError, match="the root 9 is not a node"):
        graph_edit_distance(path, path, roots=(9, 0))
