"""Networks as users write them."""

from torch import nn
from torch_geometric.nn import GINConv, global_add_pool


class OnBatch(nn.Module):
    """Takes a batch."""

    def __init__(self, features, outputs, width=8):
        super().__init__()
        self.conv = GINConv(nn.Sequential(nn.Linear(features, width), nn.ReLU()))
        self.out = nn.Linear(width, outputs)

    def forward(self, data):
        return self.out(global_add_pool(self.conv(data.x.float(), data.edge_index), data.batch))


class OnParts(OnBatch):
    """Takes what a batch holds."""

    def forward(self, x, edge_index, batch):
        return self.out(global_add_pool(self.conv(x.float(), edge_index), batch))


class FloatsOnly(OnBatch):
    """Forgets that atoms are categories."""

    def forward(self, data):
        return self.out(global_add_pool(self.conv.nn(data.x), data.batch))


def wide(features, outputs):
    """A function that builds one."""
    return OnBatch(features, outputs, width=16)


def flat(features, outputs):
    """Returns one number for each graph, whatever is asked for."""
    return OnBatch(features, 1)


def none(features, outputs):
    """Builds nothing."""


NUMBER = 3
