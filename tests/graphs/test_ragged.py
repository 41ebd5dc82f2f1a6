import torch
from hypothesis import given
from hypothesis import strategies as st

from epic.graphs.ragged import buckets, padded_index, ranks

sizes = st.lists(st.tuples(st.integers(0, 700), st.integers(0, 700)), max_size=60)


@given(sizes, st.integers(1, 100_000))
def test_every_pair_once_and_memory_bounded(pairs, area):
    n, m = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    groups = list(buckets(n, m, area))
    assert sorted(p for g in groups for p in g.tolist()) == list(range(len(pairs)))
    for g in groups:
        padded = g.numel() * int(n[g].max()) * int(m[g].max())
        assert padded <= area or g.numel() == 1
        real = int((n[g] * m[g]).sum())
        assert g.numel() <= 8 or padded <= 1.6 * real + 64


def test_padded_index():
    index, real = padded_index(torch.tensor([4, 9]), torch.tensor([2, 1]))
    assert index.tolist() == [[4, 5], [9, 0]]
    assert real.tolist() == [[True, True], [True, False]]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40))
def test_ranks_are_places_in_sorted_groups(items):
    group, value = torch.tensor(items, dtype=torch.long).reshape(-1, 2).T
    found = ranks(value, group=group)
    for g in range(5):
        here = [k for k, item in enumerate(items) if item[0] == g]
        assert [sorted(here, key=lambda k: items[k][1]).index(k) for k in here] == found[here].tolist()
