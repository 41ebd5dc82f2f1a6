import pytest

from epic.augment import FGWMixup
from epic.testing import AugmentationTester

pytest.importorskip("ot", reason="the extra `ot` is not installed")


class TestFGWMixup(AugmentationTester):
    refuses = ("integer categories",)
    keeps_attributes = False
    keeps_features = False
    fit_options = {"progress": False}

    def method(self):
        return FGWMixup(ratio=0.5, seed=0)
