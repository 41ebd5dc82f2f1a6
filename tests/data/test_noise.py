import pytest
import torch

from epic import InputError
from epic.data import corrupt


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_a_corrupted_label_always_changes_and_others_never(classes):
    y = torch.arange(600) % classes
    index = torch.arange(0, 600, 2)
    noisy = corrupt(y, share=0.4, index=index, seed=1)
    changed = (noisy != y).nonzero()[:, 0]
    assert changed.numel() == 120
    assert set(changed.tolist()) <= set(index.tolist())
    assert 0 <= int(noisy.min()) <= int(noisy.max()) < classes
    shift = ((noisy - y) % classes)[changed]
    assert shift.unique().numel() == classes - 1  # every other class comes up
    assert torch.equal(noisy, corrupt(y, share=0.4, index=index, seed=1))
    assert not torch.equal(noisy, corrupt(y, share=0.4, index=index, seed=2))
    assert torch.equal(y, torch.arange(600) % classes)


def test_bad_noise():
    with pytest.raises(InputError, match=r"\[0, 1\], got 1.2"):
        corrupt(torch.arange(4) % 2, share=1.2, index=torch.arange(4), seed=0)
    with pytest.raises(InputError, match="two classes"):
        corrupt(torch.zeros(4, dtype=torch.long), share=0.5, index=torch.arange(4), seed=0)
