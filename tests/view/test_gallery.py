"""The page of a gallery, on paths between given graphs."""

import numpy as np
import pytest
import torch

from epic import edit_path
from epic.data import lollipop
from epic.view import Exhibit, gallery_page
from epic.view.gallery import comparison
from tests.view.test_page import EVIL, data_of, slide

PAIRS = [(0, 4, "same"), (1, 9, "same"), (0, 3, "different"), (2, 5, "different")]


@pytest.fixture(scope="module")
def shown():
    graphs = lollipop(12, seed=0)
    return [Exhibit(edit_path(graphs[i], graphs[j], seed=0, num_classes=4), i, j, kind) for i, j, kind in PAIRS]


def test_the_comparison_gives_both_means(shown):
    means = [np.mean([e.path.distance for e in shown if e.kind == k]) for k in ("same", "different")]
    ratio = f"{means[1] / means[0]:.2f} times as far"
    assert comparison(shown) == (
        f"Mean distance {means[0]:.4g} within a class, {means[1]:.4g} between classes, {ratio}."
    )
    assert comparison(shown[:2]) == comparison(shown[2:]) == ""
    assert comparison(shown) in gallery_page(shown, title="all")


def test_captions_name_the_classes(shown):
    paths = data_of(gallery_page(shown, title="all", names="Mutagenicity"))["entries"]
    assert [p["classes"] for p in paths] == [
        ["mutagen", "mutagen"],
        ["nonmutagen", "nonmutagen"],
        ["mutagen", "class 3"],
        ["class 2", "nonmutagen"],
    ]
    assert [p["names"] for p in paths] == [[f"graph {i}", f"graph {j}"] for i, j, _ in PAIRS]
    for p, e in zip(paths, shown, strict=True):
        assert sum(int(part.split()[0]) for part in p["counts"].split(", ")) == len(e.path)


def test_real_values_have_no_classes():
    ends = lollipop(2, seed=0)
    ends[0].y, ends[1].y = torch.tensor([[0.25]]), torch.tensor([[torch.nan]])
    page = gallery_page([Exhibit(edit_path(*ends), 0, 1, "random")], title="values")
    assert data_of(page)["entries"][0]["classes"] == ["y = 0.25", "label missing"]
    assert "Random pairs" in page


@pytest.mark.parametrize("width", [1280, 400])
def test_one_slider_moves_all_and_each_has_its_own(browser, tmp_path, shown, width):
    page = gallery_page(shown, title=EVIL)
    assert len(data_of(page)["entries"]) == 4
    (tmp_path / "gallery.html").write_text(page, encoding="utf-8")
    browser.errors(), browser.requests()
    browser.open(tmp_path / "gallery.html", width)
    count = "return [...document.querySelectorAll('.small .picture')].map((p) => p.querySelectorAll('.node').length)"
    half = sorted((e for e in shown if e.kind == "same"), key=lambda e: e.path.distance)
    half += sorted((e for e in shown if e.kind == "different"), key=lambda e: e.path.distance)
    shown = half  # nearest first, and half-way
    assert browser.run(count) == [e.path[round(len(e.path) / 2)].num_nodes for e in shown]
    move = "const s = arguments[0]; s.value = arguments[1]; s.dispatchEvent(new Event('input'));"
    browser.run(move.replace("arguments[0]", "document.getElementById('all')").replace("arguments[1]", "100"))
    assert browser.run(count) == [e.path.target.num_nodes for e in shown]
    browser.run(move.replace("arguments[0]", "document.querySelector('.small input')").replace("arguments[1]", "0"))
    assert browser.run(count) == [e.path[0 if i == 0 else len(e.path)].num_nodes for i, e in enumerate(shown)]
    browser.press("left")
    assert browser.run("return Number(document.getElementById('all').value)") == 95
    assert EVIL in browser.run("return document.body.innerText")
    assert browser.errors() == []
    assert browser.requests() == [(tmp_path / "gallery.html").as_uri()]
    assert browser.run("return document.documentElement.scrollWidth") <= width


def test_a_name_opens_the_whole_path_and_back_leads_back(browser, tmp_path, shown):
    (tmp_path / "gallery.html").write_text(gallery_page(shown, title="all"), encoding="utf-8")
    browser.open(tmp_path / "gallery.html")
    names = "return [...document.querySelectorAll('#different h3')].map((e) => e.textContent)"
    order = sorted((e for e in shown if e.kind == "different"), key=lambda e: e.path.distance)
    assert browser.run(names) == [f"graph {e.source} \u2192 graph {e.target}" for e in order]
    browser.run("const s = document.getElementById('sort'); s.value = 'far'; s.dispatchEvent(new Event('change'));")
    assert browser.run(names) == [f"graph {e.source} \u2192 graph {e.target}" for e in order[::-1]]
    browser.run("document.querySelectorAll('#same h3 a')[0].click()")
    title = "return document.getElementById('one').hidden ? '' : document.getElementById('name').textContent"
    first = max((e for e in shown if e.kind == "same"), key=lambda e: e.path.distance)
    wanted = f"graph {first.source} \u2192 graph {first.target}"
    assert browser.settle(title, wanted) == wanted
    slide(browser, 3)
    assert browser.run("return location.hash") == f"#path={shown.index(first) + 1}&step=3"
    assert browser.run("return document.querySelectorAll('#between .node').length") == first.path[3].num_nodes
    browser.press("right")
    assert browser.settle("return Number(document.getElementById('slider').value)", 4) == 4
    browser.run("document.querySelector('#one a').click()")
    assert browser.settle(title, "") == ""
    assert browser.run("return document.getElementById('overview').offsetHeight") > 100
    assert browser.errors() == []
