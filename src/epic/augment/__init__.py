"""Graph augmentation: EPIC, its rivals, and the controls, all with one interface."""

from epic.augment.base import Augmentation, MethodInfo
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
from epic.augment.registry import METHODS, method_class
from epic.augment.s_mixup import SMixup
from epic.augment.subgraph import Subgraph
from epic.augment.submix import SubMix
from epic.augment.vanilla import Vanilla

__all__ = [
    "EPIC",
    "FLAG",
    "GREA",
    "METHODS",
    "Augmentation",
    "DropEdge",
    "DropNode",
    "EPICFeature",
    "EPICNoIndicator",
    "EPICUnit",
    "GEDMixup",
    "GMixup",
    "GraphCrop",
    "GraphTransplant",
    "IfMixup",
    "ManifoldMixup",
    "MethodInfo",
    "MotifSwap",
    "NodeSam",
    "SMixup",
    "SubMix",
    "Subgraph",
    "Vanilla",
    "method_class",
]
