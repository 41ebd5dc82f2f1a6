import pytest

from epic.augment import GeoMix
from epic.testing import AugmentationTester

pytest.importorskip("ot", reason="the extra `ot` is not installed")


class TestGeoMix(AugmentationTester):
    refuses = ("integer categories",)
    keeps_attributes = False
    keeps_features = False
    fit_options = {"progress": False}

    def method(self):
        return GeoMix(seed=0)
