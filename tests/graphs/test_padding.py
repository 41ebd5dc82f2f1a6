import torch
from hypothesis import given
from hypothesis import strategies as st

from epic.graphs.padding import buckets, padded_index

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
