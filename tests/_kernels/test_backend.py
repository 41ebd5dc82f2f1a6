import pytest

from epic._kernels import backend

numba = pytest.importorskip("numba", reason="needs numba: pip install 'epic-graph[fast]'")


def test_a_variable_switches_numba_off(monkeypatch):
    monkeypatch.delenv("EPIC_NO_NUMBA", raising=False)
    assert backend.enabled()
    monkeypatch.setenv("EPIC_NO_NUMBA", "1")
    assert not backend.enabled()


def test_without_a_cache_folder_it_compiles_all_the_same(monkeypatch):
    tried = []

    def njit(signatures, cache=False, **options):
        tried.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr("numba.njit", njit)
    assert backend.jit("void()")(len) is len
    assert tried == [True, False]
