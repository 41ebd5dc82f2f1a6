"""The page of a path: without a browser what it holds, in one what it does."""

import json
import re
import time
from xml.etree import ElementTree

import numpy as np
import pytest

from epic import FeatureCost, InputError, edit_path
from epic.data import lollipop_graph
from epic.data.smiles import molecule
from epic.view.names import Names
from epic.view.page import path_page
from tests.sample_graphs import random_graph

EVIL = "<script>alert(1)</script>"


def sample(nodes=(9, 12), x="onehot", **options):
    rng = np.random.default_rng(0)
    ends = [random_graph(rng, n, density=0.3, x=x, edge_width=None, y=[k], **options) for k, n in enumerate(nodes)]
    return edit_path(*ends, cost=FeatureCost(), seed=0)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_a_page_is_small_and_whole(tmp_path):
    path = sample((30, 28))
    path.save(tmp_path / "path.html", title="A pair")
    page = (tmp_path / "path.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 300_000
    assert "<title>A pair</title>" in page
    outside = [a for a in re.findall(r"https?://[^\s\"'<)]*", page) if a != "http://www.w3.org/2000/svg"]
    assert outside == []
    assert not re.search(r"<(link|img|script|iframe)[^>]+(src|href)=\"(?!data:)", page)
    assert data_of(page)["entry"]["ways"][0]["steps"] == len(path)


def test_names_are_text_and_never_markup():
    page = path_page(sample(), title=EVIL, names=Names((EVIL,) * 3, (EVIL, "&amp;")), ends=(EVIL, "</script>"))
    assert EVIL not in page
    assert page.count("<script") == 3
    assert data_of(page)["entry"]["ways"][0]["label"]["names"] == [EVIL, "&amp;"]
    assert data_of(page)["entry"]["names"] == [EVIL, "</script>"]


def test_a_notebook_gets_the_page_in_a_frame():
    shown = sample()._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert shown.count("<") == 2  # the page inside is escaped


def test_what_cannot_be_saved_is_refused(tmp_path):
    path = sample()
    with pytest.raises(InputError, match=r"path\.gif: the name must end in \.html, \.png"):
        path.save(tmp_path / "path.gif")
    with pytest.raises(InputError, match="does not exist"):
        path.save(tmp_path / "nowhere" / "path.html")
    with pytest.raises(InputError, match="names must be"):
        path.save(tmp_path / "path.html", names=3)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_pictures_are_saved_by_their_suffix(tmp_path, suffix):
    sample().save(tmp_path / f"path.{suffix}")
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert (tmp_path / f"path.{suffix}").read_bytes().startswith(start)


def slide(browser, k):
    script = "const s = document.getElementById('slider'); s.value = arguments[0]; s.dispatchEvent(new Event('input'));"
    browser.run(script, k)


def drawn(browser, where="between"):
    """Node and edge counts of the picture as it stands in the document."""
    count = "return document.querySelectorAll('#' + arguments[0] + ' ' + arguments[1]).length"
    return browser.run(count, where, ".node"), browser.run(count, where, ".edge:not(.ghost)")


def lines(graph):
    return len({(min(e), max(e)) for e in graph.edge_index.T.tolist()})


@pytest.mark.parametrize("width", [1280, pytest.param(400, marks=pytest.mark.slow)])
def test_the_slider_shows_every_graph_of_the_path(browser, tmp_path, width):
    path = sample()
    path.save(tmp_path / "path.html")
    browser.errors(), browser.requests()
    browser.open(tmp_path / "path.html", width)
    seen = []
    for k in range(len(path) + 1):
        slide(browser, k)
        assert drawn(browser) == (path[k].num_nodes, lines(path[k]))
        seen.append(browser.run("return document.querySelector('#between svg').innerHTML"))
        current = "return [...document.querySelectorAll('[aria-current=step] .at')].map((e) => e.textContent)"
        assert browser.run(current) == ([] if k == 0 else [str(k)])
        assert f"Step {k} of {len(path)}" in browser.run("return document.body.innerText")
        assert f"After {k} of" in browser.run("return document.querySelector('#between desc').textContent")
    assert len(set(seen)) == len(seen)
    assert drawn(browser, "source") == (path.source.num_nodes, lines(path.source))
    assert drawn(browser, "target") == drawn(browser) == (path.target.num_nodes, lines(path.target))
    label = browser.run("return document.querySelector('.stack').getAttribute('aria-label')")
    assert label == "Soft label: class 0 0%, class 1 100%"
    assert browser.errors() == []
    assert browser.requests() == [(tmp_path / "path.html").as_uri()]
    assert browser.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_keys_play_and_a_click_move_the_path(browser, tmp_path):
    path = edit_path(lollipop_graph(4, 3), lollipop_graph(6, 4), seed=0)
    path.save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html")
    at = "return Number(document.getElementById('slider').value)"
    browser.press("right", "right", "right", "left")
    assert browser.settle(at, 2) == 2
    browser.run("document.getElementById('slider').focus()")
    browser.press("right")
    assert browser.settle(at, 3) == 3  # once, not by the page and by the slider
    assert drawn(browser)[0] == path[3].num_nodes
    browser.press("end")
    assert browser.settle(at, len(path)) == len(path)
    browser.press("right", "home", "left")
    assert browser.settle(at, 0) == 0
    browser.run("document.querySelectorAll('.operation')[4].click()")
    assert browser.run(at) == 5
    browser.run("document.getElementById('play').click()")
    deadline = time.monotonic() + 30
    while browser.run(at) < len(path):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert browser.errors() == []


def where(browser, picture):
    """Places on the screen of the nodes of a picture, by what is written on them, without size and shift."""
    script = (
        "return [...document.querySelectorAll('#' + arguments[0] + ' .node')].map((g) => "
        "[g.textContent, ...g.getAttribute('transform').match(/[-.0-9]+/g).map(Number)])"
    )
    return {text: np.array(at) for text, *at in browser.run(script, picture)}


def shape(places):
    """The same places with mean 0 and size 1."""
    at = np.array([places[name] for name in sorted(places)])
    at = at - at.mean(0)
    return at / np.linalg.norm(at)


def test_the_middle_starts_as_the_source_and_ends_as_the_target(browser, tmp_path):
    path = sample(x=None)  # nodes carry their numbers
    path.save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html")
    slide(browser, 0)
    assert shape(where(browser, "between")) == pytest.approx(shape(where(browser, "source")), abs=2e-3)
    before = where(browser, "between")
    room = browser.run("const e = document.getElementById('between'); return Math.min(e.clientWidth, e.clientHeight)")
    longest = 0.0
    for k in range(1, len(path) + 1):
        slide(browser, k)
        after = where(browser, "between")
        longest = max(longest, *(np.linalg.norm(after[n] - before[n]) for n in after.keys() & before.keys()))
        before = after
    assert longest < 0.3 * room  # nothing jumps
    assert shape(before) == pytest.approx(shape(where(browser, "target")), abs=2e-3)


def test_a_node_tells_its_operation_and_the_reverse(browser, tmp_path):
    path = sample()
    path.save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html")
    slide(browser, 1)
    spot = "const b = document.querySelectorAll('#source .node')[2].getBoundingClientRect();"
    spot += "const at = { clientX: b.x + b.width / 2, clientY: b.y + b.height / 2, bubbles: true, pointerId: 7 };"
    browser.run(spot + "document.getElementById('source').dispatchEvent(new PointerEvent('pointermove', at));")
    said = browser.run("return document.getElementById('tip').textContent")
    step = next(k for k, op in enumerate(path.operations, 1) if op.source == 2)
    assert said.startswith(f"step {step}: {path.operations[step - 1].kind} 2")
    assert browser.run("return [...document.querySelectorAll('.seen .at')].map((e) => e.textContent)") == [str(step)]
    browser.run(spot + "document.getElementById('source').dispatchEvent(new PointerEvent('pointerleave', at));")
    assert browser.run("return document.getElementById('tip').hidden")
    browser.run(
        "document.querySelectorAll('.operation')[arguments[0]].dispatchEvent(new Event('mouseenter'))", step - 1
    )
    middle = "const b = document.querySelector('#source ' + q).getBoundingClientRect();"
    middle += "return [b.x + b.width / 2, b.y + b.height / 2]"
    spot, node = browser.run(f"return ['.spot', '.node:nth-child(3) path'].map((q) => {{ {middle} }})")
    assert spot == pytest.approx(node, abs=1)
    assert browser.errors() == []


def test_only_what_has_gone_leaves_a_ghost(browser, tmp_path):
    pytest.importorskip("rdkit", reason="molecules need the extra mol")
    path = edit_path(molecule("CCCCCCO"), molecule("CC"), seed=0)
    path.save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html")
    for k, op in enumerate(path.operations, 1):
        slide(browser, k)
        ghosts = (
            "return [...document.querySelectorAll('#between g.ghost')].filter((g) => g.childElementCount > 1).length"
        )
        assert browser.run(ghosts) == (op.kind == "delete")


def test_a_tap_shows_what_a_pointer_shows(browser, tmp_path):
    sample().save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html", 420)
    tap = "const b = document.querySelector('#source .node').getBoundingClientRect();"
    tap += "const at = { clientX: b.x + b.width / 2, clientY: b.y + b.height / 2, pointerType: 'touch' };"
    for kind in ("pointerdown", "pointerup", "pointerleave"):
        browser.run(tap + "document.getElementById('source').dispatchEvent(new PointerEvent(arguments[0], at))", kind)
    assert browser.run("return document.getElementById('tip').textContent").startswith("step ")
    assert not browser.run("return document.getElementById('tip').hidden")


def test_an_address_leads_to_its_step(browser, tmp_path):
    path = sample()
    path.save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html")
    browser.run("location.hash = '#step=4'")
    assert browser.settle("return Number(document.getElementById('slider').value)", 4) == 4
    slide(browser, 6)
    assert browser.run("return location.hash") == "#step=6"
    browser.run("location.hash = '#step=9999'")
    assert browser.settle("return Number(document.getElementById('slider').value)", len(path)) == len(path)


def test_the_picture_zooms_and_everything_comes_back(browser, tmp_path):
    sample().save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html")
    zoom = "return document.querySelector('#between svg > g').getAttribute('transform')"
    assert browser.run(zoom) == "translate(0 0) scale(1)"
    browser.run("document.getElementById('nearer').click()")
    assert "scale(1.5)" in browser.run(zoom)
    wheel = "const e = new WheelEvent('wheel', { deltaY: -100, clientX: 500, clientY: 300, cancelable: true });"
    assert browser.run(wheel + "document.getElementById('between').dispatchEvent(e); return e.defaultPrevented")
    assert float(browser.run(zoom).split("scale(")[1][:-1]) == pytest.approx(1.5 * np.exp(0.22))
    browser.run("document.getElementById('whole').click()")
    assert browser.run(zoom) == "translate(0 0) scale(1)"


SAVED = """
const made = URL.createObjectURL;
URL.createObjectURL = (blob) => {
  new Response(blob).arrayBuffer().then((b) => window.saved = [...new Uint8Array(b)]);
  return made.call(URL, blob);
};
HTMLAnchorElement.prototype.click = function () { window.called = this.download; };
"""


def saved(browser, kind):
    browser.run(f"window.saved = null; document.getElementById('{kind}').click()")
    deadline = time.monotonic() + 20
    while (found := browser.run("return window.saved")) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert browser.run("return window.called") == f"step-3.{kind}"
    return bytes(found)


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [9, 90])
def test_a_step_can_be_saved_as_svg_and_png(browser, tmp_path, nodes):
    path = sample((nodes, 2 * nodes))
    path.save(tmp_path / "path.html", names=Names((EVIL,) * 3))
    browser.open(tmp_path / "path.html")
    slide(browser, 3)
    browser.run(SAVED)
    root = ElementTree.fromstring(saved(browser, "svg"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    drawn = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class", "").startswith("node")]
    assert len(drawn) == path[3].num_nodes
    assert saved(browser, "png").startswith(b"\x89PNG")
    assert browser.errors() == []


def test_the_theme_can_be_switched(browser, tmp_path):
    sample().save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html")
    stroke = "document.querySelector('#between .edge path').getAttribute('stroke')"
    look = f"return [getComputedStyle(document.body).backgroundColor, {stroke}]"
    ground, ink = browser.run(look)
    browser.run("document.getElementById('theme').click()")
    other, pale = browser.run(look)
    light = [sum(map(int, re.findall(r"\d+", c)[:3])) for c in (ground, other, ink, pale)]
    assert light[0] > 600 > 200 > light[1]
    assert light[2] < light[3]


def test_other_ways_can_be_chosen(browser, tmp_path):
    ends = [random_graph(np.random.default_rng(n), n, density=0.3, edge_width=None) for n in (8, 10)]
    main, other = (edit_path(*ends, matching=m, seed=0) for m in ("nodes", "edges"))
    main.save(tmp_path / "path.html", others=[other])
    browser.open(tmp_path / "path.html")
    slide(browser, len(main))
    browser.run("document.querySelectorAll('#ways button')[1].click()")
    assert (
        browser.run("return document.querySelector('#ways [aria-pressed=true]').textContent")
        == "edges matched, order random"
    )
    assert f"Distance {other.distance:.4g}" in browser.run("return document.getElementById('about').textContent")
    assert drawn(browser) == (other.target.num_nodes, lines(other.target))
    assert browser.run("return location.hash") == f"#path=2&step={len(other)}"
    with pytest.raises(InputError, match="up to 3 paths, got 4"):
        path_page(main, others=[other] * 3)


@pytest.mark.slow
def test_large_graphs_are_painted_on_a_canvas(browser, tmp_path):
    path = sample((150, 170))
    path.save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html")
    for k in (0, 40, len(path)):
        slide(browser, k)
        found = browser.run("const d = document.getElementById('between').dataset; return [d.nodes, d.edges]")
        assert found == [str(path[k].num_nodes), str(lines(path[k]))]
    inked = (
        "const c = document.querySelector('#between canvas');"
        "const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "let n = 0; for (let i = 3; i < p.length; i += 4) n += p[i] > 0; return n / (c.width * c.height)"
    )
    assert 0.02 < browser.run(inked) < 0.95
    assert "170 nodes" in browser.run("return document.querySelector('#between canvas').getAttribute('aria-label')")
    assert browser.errors() == []


@pytest.mark.parametrize("width", [420, 1920])
def test_everything_is_reachable_and_nothing_empty(browser, tmp_path, width):
    sample().save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html", width, 900)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    outside = (
        "return [...document.querySelectorAll('button, input, .card')].filter((e) => e.offsetParent).filter((e) => {"
        " const b = e.getBoundingClientRect(); return b.left < 0 || b.right > innerWidth || b.width < 12; }).length"
    )
    assert browser.run(outside) == 0
    wide = "return document.querySelector('.path').getBoundingClientRect().width"
    assert browser.run(wide) > 0.95 * width


def test_names_are_shown_as_they_are(browser, tmp_path):
    sample().save(tmp_path / "path.html", title=EVIL, names=Names((EVIL,) * 3, (EVIL, "b")), ends=(EVIL, EVIL))
    browser.open(tmp_path / "path.html")
    text = browser.run("return document.body.innerText")
    assert text.count(EVIL) >= 5  # heading, both ends, legend, label
    assert browser.run("return document.title") == EVIL
    assert browser.run("return document.querySelectorAll('script').length") == 3
    assert browser.errors() == []


@pytest.mark.parametrize(
    "path",
    [
        sample((0, 2)),
        sample((1, 1), x=None),
        sample((4, 5), directed=True, loops=True),
        edit_path(lollipop_graph(1, 0), lollipop_graph(1, 0)),
    ],
    ids=["empty", "single", "directed", "no-cost"],
)
def test_odd_paths_are_drawn_too(browser, tmp_path, path):
    path.save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html", 400)
    slide(browser, len(path))
    assert drawn(browser) == (path.target.num_nodes, lines(path.target))
    assert browser.errors() == []


def test_the_frame_of_a_notebook_runs(browser, tmp_path):
    path = sample()
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><meta charset=utf-8>{path._repr_html_()}")
    browser.errors()
    browser.open(tmp_path / "notebook.html")
    browser.enter_frame()
    slide(browser, 2)
    assert drawn(browser) == (path[2].num_nodes, lines(path[2]))
    assert browser.errors() == []
