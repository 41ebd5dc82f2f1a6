"""
05 Augmentation in a training loop
==================================

You learn: how to set up EPIC on the training graphs, what it makes of a batch, and that nothing else of an ordinary
PyTorch Geometric loop changes except that labels are now rows of shares. The same in Lightning
(``pip install lightning``). Run it: ``python examples/drop_in.py``
"""

import logging
import warnings
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import torch.nn.functional as F
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, global_add_pool
from torch_geometric.transforms import OneHotDegree

from epic import EPIC, UnitCost, pack
from epic.data import lollipop

HIGHEST_DEGREE = 8

# %%
# Graphs whose class is the size of their clique. Node degrees serve as features.
degrees = OneHotDegree(HIGHEST_DEGREE, cat=False)
train = [degrees(g) for g in lollipop(120, seed=0)]
test = [degrees(g) for g in lollipop(100, seed=1)]
loader = DataLoader(train, batch_size=32, shuffle=True)

# %%
# The recipe of :doc:`the study </study>`, which helped a little where labelled graphs were few: edits are counted and
# edges are kept. ``x`` holds degrees, which follow the edits with ``degree_features``. ``EPIC(ratio=0.5)`` is the
# paper's: its ``fit`` learns what edits cost.
augment = EPIC(UnitCost(), matching="edges", ratio=1.0, degree_features=True, seed=0).fit(train)

# %%
# Where new graphs come from: the path between two training graphs. One of the graphs between its ends joins the batch,
# with the shares of classes that stand below it.
way = augment.path(train[0], train[1], seed=0)
strip = way.plot(steps=5)


# %%
# Any model that takes a batch will do.
class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = GIN(HIGHEST_DEGREE + 1, 32, num_layers=2)
        self.out = torch.nn.Linear(32, 4)

    def forward(self, batch: Batch) -> torch.Tensor:
        return self.out(global_add_pool(self.layers(batch.x, batch.edge_index), batch.batch))


# %%
# The loop, plain and with the one new line. With it ``batch.y`` holds shares of classes ``[64, 4]``, which the loss
# takes as it takes classes. (For labels of 0 and 1 in a float column, as page 04 has them, the loss is
# ``F.binary_cross_entropy_with_logits``.)
def score(model: torch.nn.Module) -> int:
    with torch.no_grad():
        return sum(int((model.eval()(b).argmax(1) == b.y).sum()) for b in DataLoader(test, batch_size=100))


right = {}
for name in ("plain", "with EPIC"):
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(10):
        for batch in loader:
            if name == "with EPIC":
                batch = augment(batch)  # 32 graphs come in, 64 go out
            optimizer.zero_grad()
            F.cross_entropy(model(batch), batch.y).backward()
            optimizer.step()
    right[name] = score(model)
    print(f"{name}: {right[name]} of {len(test)} test graphs are classified right")

# %%
# In Lightning the line stands in ``training_step``. There the batch is on the device already, and batches of
# validation and test stay as they are. The page leaves this part out if it was built without Lightning.
if find_spec("lightning"):
    import lightning

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)  # no advice about devices and loggers
    warnings.filterwarnings("ignore", module="lightning")

    class LitNet(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = Net()

        def training_step(self, batch: Batch, number: int) -> torch.Tensor:
            batch = augment(batch)  # the same line
            return F.cross_entropy(self.model(batch), batch.y)

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters(), lr=0.01)

    torch.manual_seed(0)
    lit = LitNet()
    quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
    trainer = lightning.Trainer(max_epochs=10, accelerator="cpu", **quiet)
    trainer.fit(lit, loader)
    right["in Lightning"] = score(lit.model)
    print(f"in Lightning: {right['in Lightning']} of {len(test)} after {trainer.global_step} steps")

# %%
# These graphs are easy, so there is nothing to gain: ask ``epic compare`` about yours (page 06). A batch holds:
batch = augment(next(iter(loader)))
new = [g for g, made in zip(batch.to_data_list(), batch.augmented.tolist(), strict=True) if made]
print(f"of {batch.num_graphs} graphs in a batch, {len(new)} are new; the first has {new[0].num_nodes} nodes")
print("and the label", [round(v, 2) for v in new[0].y[0].tolist()])

# %%
# Cost and settings are saved together, as safetensors.
again = pack(test[:3])
embedding = augment.cost_.embed(again).embedding
with TemporaryDirectory() as folder:
    augment.save(Path(folder) / "epic.safetensors")
    loaded = EPIC.load(Path(folder) / "epic.safetensors")
print(loaded)
