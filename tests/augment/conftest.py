from tests.augment.tester import KINDS, AugmentationTester


def pytest_generate_tests(metafunc):
    """Tests of the shared tester run on every kind of graphs that their method takes."""
    if "kind" in metafunc.fixturenames and metafunc.cls is not None and issubclass(metafunc.cls, AugmentationTester):
        metafunc.parametrize("kind", [k for k in KINDS if k not in metafunc.cls.refuses])
