"""Every method by its name on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

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
from epic.augment.params import Param
from epic.augment.s_mixup import SMixup
from epic.augment.subgraph import Subgraph
from epic.augment.submix import SubMix
from epic.augment.vanilla import Vanilla
from epic.costs.feature import FeatureCost
from epic.costs.unit import UnitCost
from epic.errors import InputError, choose


@dataclass(frozen=True)
class Preset:
    """A method with a name: a class, and parameters that are fixed.

    Attributes:
        name: Its name on the command line.
        cls: The class of the augmentation.
        fixed: Parameters that cannot be set.
        facts: Where what ``epic methods`` lists differs from the facts of the class.
    """

    name: str
    cls: type[Augmentation]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def info(self) -> MethodInfo:
        """Return what ``epic methods`` lists."""
        return replace(self.cls.info, **self.facts)

    @property
    def params(self) -> dict[str, Param]:
        """Return the parameters that can be set."""
        return {n: p for n, p in self.cls.params.items() if n not in self.fixed}

    @property
    def grid(self) -> dict[str, tuple[Any, ...]]:
        """Return the values to choose from on validation, the default of each parameter first."""
        return {n: p.choices for n, p in self.params.items() if p.grid}

    def create(self, **settings: Any) -> Augmentation:
        """Return the augmentation with these ``settings``."""
        for name in settings:
            if name in self.fixed:
                raise InputError(f"{self.name} has {name}={self.fixed[name]!r}: leave it out, or take another method")
        return self.cls(**settings, **self.fixed)


_CONTROL = {
    "paper": "control; Heo et al., EPIC, IJCAI 2024, table of cost functions",
    "needs": "nothing",
    "cost": "one assignment a graph",
}
_EDGES = {**_CONTROL, "paper": "the recipe of docs/study.md: EPIC by counted edits, edges kept, ratio=1"}
_PRESETS = (  # in the order of the paper's tables
    Preset("vanilla", Vanilla),
    Preset("drop_edge", DropEdge),
    Preset("drop_node", DropNode),
    Preset("subgraph", Subgraph),
    Preset("flag", FLAG),
    Preset("submix", SubMix),
    Preset("manifold_mixup", ManifoldMixup),
    Preset("g_mixup", GMixup),
    Preset("grea", GREA),
    Preset("s_mixup", SMixup),
    Preset("epic", EPIC),
    Preset("epic_unit", EPIC, {"cost": UnitCost()}, _CONTROL),
    Preset("epic_feature", EPIC, {"cost": FeatureCost()}, _CONTROL),
    Preset("epic_edges", EPIC, {"cost": UnitCost(), "matching": "edges", "ratio": 1.0}, _EDGES),
    Preset("ged_mixup", GEDMixup),
    Preset("graph_crop", GraphCrop),
    Preset("motif_swap", MotifSwap),
    Preset("graph_transplant", GraphTransplant),
    Preset("if_mixup", IfMixup),
    Preset("fgw_mixup", FGWMixup),
    Preset("geo_mix", GeoMix),
    Preset("node_sam", NodeSam),
)
METHODS = {preset.name: preset for preset in _PRESETS}


def find_method(name: str) -> Preset:
    """Return a method by its name, or an error that names the nearest ones."""
    return METHODS[choose(name, METHODS, "method")]
