"""The shape of the package: what lies where, no hidden imports, and docstrings of every public name."""

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest
from torch_geometric.data import Batch

from epic import EPIC
from tests.sample_graphs import random_graphs

ROOT = Path(__file__).parents[1] / "src" / "epic"
ROOMS = (
    "_kernels augment classifiers cli compare costs data distance graphs matching nn paper parallel paths train view"
).split()
# networkx.py is a face of its own: networkx's arguments, imported as epic.networkx. _threads.py is used by many rooms.
FILES = (
    "__init__.py _checkpoint.py _io.py _threads.py errors.py labels.py networkx.py py.typed random.py testing.py"
).split()


def test_the_root_holds_only_rooms_and_a_few_files():
    assert {p.name for p in ROOT.iterdir() if p.name != "__pycache__"} == {*ROOMS, *FILES}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_import_by_string(path):
    """Such imports escape import-linter, mypy and readers. Only what users name themselves is imported so."""
    if path.relative_to(ROOT).as_posix() == "train/network.py":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = {alias.name for alias in node.names} if isinstance(node, (ast.Import, ast.ImportFrom)) else set()
        names |= {getattr(node, "id", None), getattr(node, "attr", None)}
        assert not names & {"import_module", "__import__"}, f"line {node.lineno}"


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_rooms_import_each_other_and_not_the_face(path):
    """``from epic import EPIC`` would import every room; only the version is stated there."""
    if path.parent.name == "cli":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "epic":
            assert [alias.name for alias in node.names] == ["__version__"], f"line {node.lineno}"
        if isinstance(node, ast.Import):
            assert "epic" not in {alias.name for alias in node.names}, f"line {node.lineno}"


def public():
    """Everything that the package or a room exports, once."""
    found = {}
    for room in ("", *ROOMS):
        module = importlib.import_module(f"epic.{room}".rstrip("."))
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                found.setdefault(thing, f"{module.__name__}.{name}")
    return [pytest.param(thing, id=name) for thing, name in found.items()]


def complaints(thing, name, doc):
    """What a docstring in Google's style lacks. One argument may be explained in the first line."""
    if not doc:
        return [f"{name} has no docstring"]
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return []
    signature = inspect.signature(thing)
    declared = getattr(thing, "params", {})
    declared = {n for n, p in declared.items() if p.help} if isinstance(declared, dict) else set()
    arguments = [p for p in signature.parameters if p not in {"self", "cls", *declared}]
    lacks = []
    if inspect.isclass(thing):
        said = " ".join(base.__doc__ or "" for base in thing.__mro__ if base.__module__.startswith("epic"))
        missing = [a for a in arguments if not re.search(rf"\b{a}\b", said)]
    else:
        missing = arguments if len(arguments) > 1 and "Args:" not in doc else []
    if missing:
        lacks.append(f"{name} does not explain {', '.join(missing)}")
    silent = inspect.isclass(thing) or signature.return_annotation in (None, "None", "Self", inspect.Signature.empty)
    if (
        not silent
        and not any(word in doc for word in ("Returns:", "Yields:"))
        and not doc.startswith(("Return", "Yield"))
    ):
        lacks.append(f"{name} does not say what it returns")
    return lacks


@pytest.mark.parametrize("thing", public())
def test_public_names_explain_themselves(thing):
    lacks = complaints(thing, thing.__name__, thing.__doc__)
    methods = vars(thing) if inspect.isclass(thing) else {}
    for name, method in methods.items():
        method = getattr(method, "__func__", method)
        inherited = any(hasattr(base, name) for base in thing.__bases__)  # the base explains it
        if inspect.isfunction(method) and not inherited and not name.startswith("_"):
            lacks += complaints(method, f"{thing.__name__}.{name}", method.__doc__)
    assert not lacks, "\n".join(lacks)


def walk(call):
    """The files that a call enters, and the rooms in the order in which calls from other rooms enter them.

    ``graphs/`` and the files at the root serve all rooms, so they are no step of the walk.
    """
    files, rooms = set(), []

    def room(frame):
        while frame is not None and not frame.f_code.co_filename.startswith(str(ROOT)):
            frame = frame.f_back
        return None if frame is None else Path(frame.f_code.co_filename).relative_to(ROOT).parts[0]

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            files.add(str(Path(frame.f_code.co_filename).relative_to(ROOT)))
            here = room(frame)
            if here in ROOMS and here not in ("graphs", room(frame.f_back), *rooms[-1:]):
                rooms.append(here)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return files, rooms


@pytest.mark.usefixtures("both_ways")
def test_augmentation_walks_through_the_rooms_once():
    """One pipeline: embed, assign, price the operations (a second look at the cost), sample, apply."""
    graphs = random_graphs(12, x="float")
    augment = EPIC().fit(graphs, epochs=1, progress=False)
    batch = Batch.from_data_list(graphs)
    augment(batch)
    files, rooms = walk(lambda: augment(batch))
    assert " > ".join(rooms) == "augment > paths > costs > nn > distance > matching > _kernels > costs"
    steps = {f for f in files if f.split("/")[0] in ROOMS and not f.startswith("graphs/")}
    assert len(steps) <= 16, sorted(steps)
    assert len(files) <= 23, sorted(files)
