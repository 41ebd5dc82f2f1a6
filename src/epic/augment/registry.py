"""Every augmentation by its name on the command line."""

from __future__ import annotations

from epic.augment.base import Augmentation
from epic.augment.drop_edge import DropEdge
from epic.augment.drop_node import DropNode
from epic.augment.epic import EPIC
from epic.augment.epic_feature import EPICFeature
from epic.augment.epic_no_indicator import EPICNoIndicator
from epic.augment.epic_unit import EPICUnit
from epic.augment.flag import FLAG
from epic.augment.g_mixup import GMixup
from epic.augment.ged_mixup import GEDMixup
from epic.augment.graph_crop import GraphCrop
from epic.augment.graph_transplant import GraphTransplant
from epic.augment.grea import GREA
from epic.augment.if_mixup import IfMixup
from epic.augment.manifold_mixup import ManifoldMixup
from epic.augment.motif_swap import MotifSwap
from epic.augment.node_sam import NodeSam
from epic.augment.s_mixup import SMixup
from epic.augment.subgraph import Subgraph
from epic.augment.submix import SubMix
from epic.augment.vanilla import Vanilla
from epic.errors import choose

# In the order of the paper's tables.
METHODS: dict[str, type[Augmentation]] = {
    "vanilla": Vanilla,
    "drop_edge": DropEdge,
    "drop_node": DropNode,
    "subgraph": Subgraph,
    "flag": FLAG,
    "submix": SubMix,
    "manifold_mixup": ManifoldMixup,
    "g_mixup": GMixup,
    "grea": GREA,
    "s_mixup": SMixup,
    "epic": EPIC,
    "epic_unit": EPICUnit,
    "epic_feature": EPICFeature,
    "epic_no_indicator": EPICNoIndicator,
    "ged_mixup": GEDMixup,
    "graph_crop": GraphCrop,
    "motif_swap": MotifSwap,
    "graph_transplant": GraphTransplant,
    "if_mixup": IfMixup,
    "node_sam": NodeSam,
}


def method_class(name: str) -> type[Augmentation]:
    """Return the class of a method by its name on the command line."""
    return METHODS[choose(name, METHODS, "method")]
