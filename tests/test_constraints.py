"""The versions that are tested are those that the package asks for."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECENT = {"torch", "pytest", "pytest-xdist", "hypothesis", "psutil"}
"""Tools of the tests, and torch, of which one build is tested."""


def name(text: str) -> str:
    return text.lower().replace("_", "-")


def pins(file: str) -> dict[str, list[int]]:
    found = re.findall(r"^([\w-]+)==([\d.]+)", (ROOT / file).read_text(), re.MULTILINE)
    return {name(package): [int(part) for part in version.strip(".").split(".")] for package, version in found}


def bounds() -> dict[str, list[int]]:
    if sys.version_info < (3, 11):
        pytest.skip("needs tomllib of Python 3.11")
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(w for extra in ("mol", "ot", "fast", "test") for w in extras[extra])]
    return {
        name(package): [int(part) for part in version.split(".")]
        for package, version in (w.split(">=") for w in wanted)
    }


def test_lowest_versions_are_the_lower_bounds():
    pinned = pins("constraints-lowest.txt")
    asked = {package: bound for package, bound in bounds().items() if package not in RECENT}
    assert len(asked) > 15
    assert {package: pinned[package][: len(bound)] for package, bound in asked.items()} == asked


@pytest.mark.parametrize("file", ["constraints.txt", "constraints-lowest.txt"])
def test_pinned_versions_are_allowed(file):
    pinned = pins(file)
    for package, bound in bounds().items():
        assert pinned[package] >= bound, package


def test_both_environments_have_the_same_torch():
    assert pins("constraints.txt")["torch"] == pins("constraints-lowest.txt")["torch"]
