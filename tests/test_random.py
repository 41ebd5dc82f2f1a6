import torch
from hypothesis import given
from hypothesis import strategies as st

from epic.random import GroupSampler


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=30))
def test_partners_are_all_reached_and_never_wrong(groups):
    group = torch.tensor(groups)
    partners = GroupSampler(group)
    chance = torch.linspace(0, 0.999999, 400, dtype=torch.double)
    for item, own in enumerate(groups):
        same = {i for i, g in enumerate(groups) if g == own and i != item and own >= 0}
        other = {i for i, g in enumerate(groups) if g not in (own, -1) and own >= 0}
        assert bool(partners.has_same[item]) == bool(same)
        assert bool(partners.has_other[item]) == bool(other)
        at = torch.full((400,), item)
        if same:
            assert set(partners.same(at, chance).tolist()) == same
        if other:
            assert set(partners.other(at, chance).tolist()) == other
