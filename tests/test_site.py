"""The pages of the site: every public name is there, links arrive, snippets run, and nothing is fetched.

The site itself is built by ``make docs``, which checks the pages that come out.
"""

import doctest
import importlib
import re
import sys
from pathlib import Path

import pytest

from epic import EPIC, InputError, UnitCost, edit_path
from epic.augment import METHODS
from epic.cli.verbs import app
from epic.data import load, lollipop
from epic.train.config import RunConfig

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if not {"_build", "gallery", "images"} & set(p.relative_to(DOCS).parts))
PACKAGES = "epic augment data costs distance paths train view testing networkx".split()


@pytest.fixture
def ext(monkeypatch):
    """Import a module of docs/_ext."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    yield importlib.import_module
    for name in ("parts", "check"):
        sys.modules.pop(name, None)


def public(package):
    module = importlib.import_module("epic" if package == "epic" else f"epic.{package}")
    if hasattr(module, "__all__"):
        return module, set(module.__all__)
    own = {n for n, v in vars(module).items() if getattr(v, "__module__", None) == module.__name__}
    return module, {n for n in own if not n.startswith("_")}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_page(package):
    """A name is described on the page of its package, or that page links to where the same thing is described."""
    module, names = public(package)
    text = (DOCS / "reference" / f"{package}.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^   (\w+)$", text, re.MULTILINE))
    described |= set(re.findall(r"^```\{py:data\} [\w.]+\.(\w+)$", text, re.MULTILINE))
    linked = set(re.findall(r"\{py:\w+\}`epic\.(?:\w+\.)*?(\w+)`", text))
    assert names - described - linked == set()
    assert {name for name in described if not hasattr(module, name)} == set()


def test_linked_names_are_described_elsewhere():
    """A link such as {py:class}`epic.Cost` leads to a name on the page of that package, or to a method of one."""
    described = {}
    for package in PACKAGES:
        text = (DOCS / "reference" / f"{package}.md").read_text(encoding="utf-8")
        prefix = "epic" if package == "epic" else f"epic.{package}"
        found = re.findall(r"^(?:   |```\{py:data\} [\w.]+\.)(\w+)$", text, re.MULTILINE)
        described |= {f"{prefix}.{name}": getattr(public(package)[0], name) for name in found}
    checked = 0
    for page in PAGES:
        for name in re.findall(r"\{py:\w+\}`(epic[\w.]+)`", page.read_text(encoding="utf-8")):
            whole, _, last = name.rpartition(".")
            assert name in described or hasattr(described.get(whole), last), (page.name, name)
            checked += 1
    assert checked > 30


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_links_between_pages_arrive(page):
    missing = []
    for target in re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        path = (page.parent / target).resolve()
        script = DOCS.parent / "examples" / f"{path.name}.py"  # the gallery makes its pages from these
        if not path.exists() and not (path.parent.name == "gallery" and script.exists()):
            missing.append(target)
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_pages_fetch_nothing(page):
    """Links may lead to the web. Pictures, scripts, styles and frames may not come from there."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"!\[[^\]]*\]\(\s*(https?:)?//", text)
    assert not re.search(r"<(script|img|iframe|link|source|video|object|embed)\b[^>]*(https?:)?//", text, re.IGNORECASE)
    assert not re.search(r"\{(math|image|figure)\}", text)  # mathematics would need MathJax


def snippets(page):
    text = page.read_text(encoding="utf-8")
    return "\n".join(block for block in re.findall(r"^```python\n(.*?)^```", text, re.S | re.M) if ">>>" in block)


@pytest.mark.parametrize("page", [p for p in PAGES if snippets(p)], ids=lambda p: str(p.relative_to(DOCS)))
def test_snippets_say_what_happens(page):
    parsed = doctest.DocTestParser().get_doctest(snippets(page), {}, page.name, str(page), 0)
    assert doctest.DocTestRunner().run(parsed).failed == 0


def test_every_message_of_an_input_error_is_listed(ext):
    """Messages met by chance are on the page, with dots where their values were."""
    text = ext("parts").errors()
    assert len(re.findall("^- ", text, re.MULTILINE)) > 200
    for call in (
        lambda: EPIC(ratio=-1),
        lambda: edit_path(*lollipop(2, seed=0), order="randm"),
        lambda: UnitCost().nearest(lollipop(3, seed=0), k=9),
        lambda: load("nowhere.csv"),
    ):
        with pytest.raises(InputError) as found:
            call()
        known = re.findall(r"^- `+ ?(.*?) ?`+$", text, re.MULTILINE)
        said = " ".join(str(found.value).split())
        assert any(re.fullmatch(".*".join(map(re.escape, m.split("…"))), said) for m in known if m.strip("… :;,")), said


def test_parts_tell_all_there_is(ext):
    parts = ext("parts")
    methods, commands, config = parts.methods(), parts.commands(), parts.config()
    assert [name for name in METHODS if f"\n## {name}\n" not in methods] == []
    known = [command.name or command.callback.__name__ for command in app.registered_commands]
    assert [name for name in known if f"\n### epic {name}\n" not in commands] == []
    assert "--budget" in commands
    assert [name for name in RunConfig.model_fields if f"| `{name}` |" not in config] == []


def test_the_map_shows_every_room(ext):
    rows = ext("parts").layers()
    assert rows[0] == ["cli", "testing", "networkx"]
    assert rows[-1] == ["errors"]
    source = DOCS.parent / "src" / "epic"
    there = {p.stem for p in source.iterdir() if p.suffix in ("", ".py")} - {"__init__", "__pycache__"}
    assert {name for row in rows for name in row} == there
    assert all(f">{name}</text>" in ext("parts").rooms() for name in there)


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<a href="https://a.org">a</a><img src="b.png">', []),
        ('<script src="//a.org/x.js"></script>', ["//a.org/x.js"]),
        ('<link rel="preconnect" href="https://a.org">', ["https://a.org"]),
        ('<link rel="canonical" href="https://a.org">', []),
        ("<style>@import 'https://a.org/f.css';</style>", ["https://a.org/f.css"]),
        ('<img srcset="a.png 1x, https://a.org/b.png 2x">', ["https://a.org/b.png"]),
        ('<iframe srcdoc="&lt;img src=&quot;https://a.org/c.png&quot;&gt;"></iframe>', ["https://a.org/c.png"]),
    ],
)
def test_the_check_sees_what_a_browser_fetches(ext, html, found):
    assert ext("check").fetched(html) == found


def test_the_check_follows_links(ext, tmp_path):
    (tmp_path / "a.html").write_text('<p id="top"></p><a href="b.html#here">b</a><a href="#top">up</a>')
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="a.html#gone">a</a><a href="c.html">c</a>')
    said = sorted(ext("check").problems(tmp_path))
    assert said == [
        "b.html leads to a.html#gone, which has no such place",
        "b.html leads to c.html, which does not exist",
    ]
    assert ext("check").problems(tmp_path / "nothing") == [f"{tmp_path / 'nothing'} holds no page"]


def test_the_errors_to_meet_first_are_those_that_are_raised(ext):
    """Each message in the table of the page is the beginning of one that is read from the source."""
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(.+?)` \|", page, re.MULTILINE)
    assert len(told) > 10
    raised = re.findall(r"^- `(.+)`$", ext("parts").errors(), re.MULTILINE)
    assert [t for t in told if not any(r.startswith(t) for r in raised)] == []
