import torch

from epic.costs import Cost, NodeCosts
from epic.data import lollipop_graph
from epic.paper.experiments.lollipop import pattern, rows


class HeadCost(Cost):
    """Embeds a head node at its class and a tail node at zero."""

    def embed(self, graphs):
        h = (graphs.y[graphs.graph_of_node] + 1.0) * graphs.node["head"]
        return NodeCosts(h[:, None].double(), h, h, graphs.ptr)

    def substitution(self, source, target):
        return (source - target.transpose(-1, -2)).abs()


def test_by_hand():
    graphs = [lollipop_graph(3, 2, 0), lollipop_graph(4, 2, 1), lollipop_graph(3, 1, 0)]
    found = pattern(HeadCost(), graphs)
    assert found.positive_head == found.positive_tail == found.negative_tail == 0
    assert found.positive_mixed > 0
    assert found.negative_mixed == 1.0  # the largest
    assert abs(found.negative_head - 1 / _mean_mixed()) < 1e-6
    told = {(sign, part): measured for sign, part, _, measured in rows(found)}
    assert told["negative", "mixed"] == 1.0
    assert told["positive", "mixed"] == found.positive_mixed
    assert len(told) == 6


def _mean_mixed() -> float:
    # Between classes: 6 head nodes of class 0 (cost 1) with 2 tail nodes, 4 head nodes of class 1 (cost 2) with 3 tail
    # nodes.
    return float(torch.tensor([1.0] * 12 + [2.0] * 12).mean())
