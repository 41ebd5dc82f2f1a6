import hashlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from epic import EPIC, EditNeighbors, InputError
from epic.random import GroupSampler, base_seed, digest, seeded


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


def test_contents_of_every_type_have_a_fingerprint():
    values = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    kinds = (torch.float, torch.double, torch.half, torch.bfloat16, torch.long, torch.uint8, torch.bool)
    assert len({digest(values.to(kind)) for kind in kinds}) == len(kinds)
    assert digest(values.T) == digest(values.T.contiguous()) != digest(values)
    assert digest(torch.tensor(3), None, values[:0]) != digest(torch.tensor(4), None, values[:0])
    assert digest(values) == hashlib.blake2b(values.numpy().tobytes() + b"|", digest_size=16).hexdigest()


def test_seeds_may_be_of_any_size():
    drawn = []
    for seed in (-1, 2**64 - 1, 10**30, -(10**30)):
        with seeded(seed):
            drawn.append(float(torch.rand(())))
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 3


@pytest.mark.parametrize("wrong", [True, False, 1.5, "0", [0]])
def test_a_seed_is_an_int_a_generator_or_none(wrong):
    for use in (base_seed, lambda seed: EPIC(seed=seed), lambda seed: EditNeighbors(seed=seed)):
        with pytest.raises(InputError, match="seed must be an int"):
            use(wrong)
