import numpy as np
import pytest
import torch

from epic import InputError, UnitCost
from epic.data import Dataset, lollipop
from epic.graphs.convert import pack
from epic.view.gallery import compared, exhibits, gallery_page
from tests.view.test_page import EVIL, data_of


@pytest.fixture(scope="module")
def small():
    return Dataset("small", pack(lollipop(40, seed=0)), "classes")


def test_half_of_the_pairs_share_a_class(small):
    shown = exhibits(small, UnitCost(), pairs=7, seed=0)
    assert [e.kind for e in shown] == ["same"] * 4 + ["different"] * 3
    for e in shown:
        assert (int(small.y[e.source]) == int(small.y[e.target])) == (e.kind == "same")
        assert e.source != e.target
        assert e.path.source.num_nodes == small.graphs.graph(e.source).num_nodes
    again = exhibits(small, UnitCost(), pairs=7, seed=0)
    assert [(e.source, e.target) for e in again] == [(e.source, e.target) for e in shown]
    means = [np.mean([e.path.distance for e in shown if e.kind == k]) for k in ("same", "different")]
    assert f"Mean distance {means[0]:.4g} within a class, {means[1]:.4g} between classes" in compared(shown)


def test_real_values_have_no_classes_to_compare(small):
    values = Dataset("values", pack(lollipop(10, seed=0)), "values")
    object.__setattr__(values.graphs, "y", torch.linspace(-1, 1, 10))
    shown = exhibits(values, UnitCost(), pairs=3)
    assert [e.kind for e in shown] == ["random"] * 3
    assert compared(shown) == ""
    assert "y = " in gallery_page(shown, "values")


def test_no_pairs_are_refused(small):
    with pytest.raises(InputError, match="pairs must be at least 1, got 0"):
        exhibits(small, UnitCost(), pairs=0)


@pytest.mark.parametrize("width", [1280, 400])
def test_one_slider_moves_all_and_each_has_its_own(browser, tmp_path, small, width):
    shown = exhibits(small, UnitCost(), pairs=4, seed=0)
    page = gallery_page(shown, EVIL)
    assert len(data_of(page)["paths"]) == 4
    (tmp_path / "gallery.html").write_text(page, encoding="utf-8")
    browser.errors(), browser.requests()
    browser.open(tmp_path / "gallery.html", width)
    count = "return [...document.querySelectorAll('.small .picture')].map((p) => p.querySelectorAll('.node').length)"
    assert browser.run(count) == [e.path.source.num_nodes for e in shown]
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
