"""The page of a path: without a browser what it holds, in one what it does."""

import json
import re
import time

import numpy as np
import pytest

from epic import FeatureCost, InputError, edit_path
from epic.data import lollipop_graph
from epic.view.names import Names
from epic.view.page import path_page
from tests.sample_graphs import random_graph

EVIL = "<script>alert(1)</script>"


def sample(nodes=(9, 12), x="onehot", **options):
    rng = np.random.default_rng(0)
    ends = [random_graph(rng, n, 0.3, x=x, edge_width=None, y=[k], **options) for k, n in enumerate(nodes)]
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
    assert data_of(page)["path"]["steps"] == len(path)


def test_names_are_text_and_never_markup():
    page = path_page(sample(), title=EVIL, names=Names((EVIL,) * 3, (EVIL, "&amp;")), ends=(EVIL, "</script>"))
    assert EVIL not in page
    assert page.count("<script") == 3
    assert data_of(page)["path"]["label"]["names"] == [EVIL, "&amp;"]
    assert data_of(page)["names"] == [EVIL, "</script>"]


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


def test_places_do_not_move(browser, tmp_path):
    path = sample()
    path.save(tmp_path / "path.html")
    browser.open(tmp_path / "path.html")
    circles = "[...document.querySelectorAll('#between .node circle')]"
    where = f"return {circles}.map((c) => c.getAttribute('cx') + ' ' + c.getAttribute('cy'))"
    everywhere = set()
    for k in range(len(path) + 1):
        slide(browser, k)
        everywhere |= set(browser.run(where))
    kinds = [op.kind for op in path.operations]
    assert len(everywhere) == len(kinds)  # one place for each operation, whatever the step


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
