"""Graph augmentation: EPIC, its rivals, and the controls, all with one interface."""

from epic.augment import checks
from epic.augment.base import Augmentation, MethodInfo
from epic.augment.drop_edge import DropEdge
from epic.augment.drop_node import DropNode
from epic.augment.epic import EPIC
from epic.augment.fgw_mixup import FGWMixup
from epic.augment.flag import FLAG
from epic.augment.g_mixup import GMixup
from epic.augment.ged_mixup import GEDMixup
from epic.augment.geo_mix import GeoMix
from epic.augment.graph_crop import GraphCrop
from epic.augment.graph_transplant import GraphTransplant
from epic.augment.grea import GREA
from epic.augment.if_mixup import IfMixup
from epic.augment.manifold_mixup import ManifoldMixup
from epic.augment.motif_swap import MotifSwap
from epic.augment.node_sam import NodeSam
from epic.augment.params import Param, param
from epic.augment.registry import METHODS, Preset, find_method
from epic.augment.s_mixup import SMixup
from epic.augment.subgraph import Subgraph
from epic.augment.submix import SubMix
from epic.augment.training import TrainingMethod, TrainingSteps, training_steps
from epic.augment.vanilla import Vanilla

__all__ = [
    "EPIC",
    "FLAG",
    "GREA",
    "METHODS",
    "Augmentation",
    "DropEdge",
    "DropNode",
    "FGWMixup",
    "GEDMixup",
    "GMixup",
    "GeoMix",
    "GraphCrop",
    "GraphTransplant",
    "IfMixup",
    "ManifoldMixup",
    "MethodInfo",
    "MotifSwap",
    "NodeSam",
    "Param",
    "Preset",
    "SMixup",
    "SubMix",
    "Subgraph",
    "TrainingMethod",
    "TrainingSteps",
    "Vanilla",
    "checks",
    "find_method",
    "param",
    "training_steps",
]
