"""
10 A million graphs, many machines
==================================

You learn: to make graphs ahead of training and keep them on disk, to go on after a stop, to spread the work over
processes or a Ray cluster, and to train on originals and made graphs together. Run it: ``python examples/offline.py``
"""

from pathlib import Path
from tempfile import mkdtemp

import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, global_add_pool
from torch_geometric.transforms import OneHotDegree

from epic import EPIC, pack
from epic.augment.generation import ShardMaker, write_shards
from epic.data import Shards, lollipop
from epic.data.shards import begin

CLASSES, HIGHEST_DEGREE, COUNT = 4, 8, 600
torch.manual_seed(0)

# %%
# On the command line, this makes a million graphs on two processes, from the training part of the split
# (``--part all``: from every graph). A million small graphs by unit cost took 3 minutes and 943 MB of disk;
# ``--method epic`` learns the cost first. Your own file works too: ``epic augment my.csv``. Killed and started again,
# it makes what is missing:
#
# .. code-block:: bash
#
#    epic augment NCI1 --method epic --count 1000000 --workers 2 --out made
#    epic augment NCI1 --method epic --count 1000000 --ray ADDRESS --out /shared/made   # on a Ray cluster
#
# The files are the same whatever the number of workers. Here is the same in Python, with fewer graphs.
degrees = OneHotDegree(HIGHEST_DEGREE, cat=False)
train = [degrees(g) for g in lollipop(100, seed=0)]
test = [degrees(g) for g in lollipop(100, seed=1)]
augment = EPIC(degree_features=True, seed=0).fit(train, epochs=10, progress=False)

# %%
# A manifest says what the folder holds; ``begin`` tells which shards are missing, so a second run goes on.
folder = Path(mkdtemp()) / "shards"
folder.mkdir()
maker = ShardMaker(augment, pack(train), seed=0, count=COUNT, shard=256)
manifest = {"count": COUNT, "shard": 256, "made from": "100 lollipops, seed 0"}
missing = begin(folder, manifest)
for written in write_shards(maker, folder, [name for name, _ in missing]):
    print(f"wrote a shard of {written} graphs")
left = begin(folder, manifest)
print(f"a second run would make {len(left)} shards")

# %%
# What is lost is made again, to the byte, wherever it is made: here, in other processes with ``workers=2``, on a Ray
# cluster with ``ray="HOST:PORT"``, or on one that is started for it on this machine with ``ray="local"``.
first = folder / missing[0][0]
before = first.read_bytes()
first.unlink()
list(write_shards(maker, folder, [first.name]))
same = first.read_bytes() == before
print(f"{first.name} deleted and made again: {'the same' if same else 'different'} bytes")

# %%
# A folder of shards is a PyG dataset: length, index, slices, any loader. Only ``keep`` shards are in memory at a time.
# Each graph is drawn independently of the others, so they may be read in order. Shuffled over more shards than
# ``keep``, nearly every graph reads a file again: raise ``keep``, or shuffle within shards.
made = Shards(folder)
print(f"{len(made)} graphs on disk; the last has {made[-1].num_nodes} nodes, label {made[-1].y[0].tolist()}")

# %%
# How large the graphs are: those on edit paths lie between the originals.
sizes = {"originals": [g.num_nodes for g in train], "made": [made[i].num_nodes for i in range(len(made))]}
picture = Figure(figsize=(6, 2.8), layout="constrained")
axes = picture.add_subplot(xlabel="nodes", ylabel="share of graphs")
axes.hist(list(sizes.values()), label=list(sizes), density=True, bins=range(min(sizes["originals"]) - 1, 22))
axes.legend()

# %%
# Labels of made graphs are shares; those of originals become so too, and both go into one loader.
keys = ("x", "edge_index", "y")
originals = [type(g)(x=g.x, edge_index=g.edge_index, y=F.one_hot(g.y, CLASSES).float()) for g in train]


def bare(graph: Data) -> Data:
    return Data(**{k: graph[k] for k in keys})


both = torch.utils.data.ConcatDataset([originals, Shards(folder, transform=bare)])
encoder = GIN(HIGHEST_DEGREE + 1, hidden_channels=32, num_layers=3)
head = torch.nn.Linear(32, CLASSES)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=0.01)
for epoch in range(5):
    total = 0.0
    loader = DataLoader(both, batch_size=64, shuffle=True)
    for batch in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(head(global_add_pool(encoder(batch.x, batch.edge_index), batch.batch)), batch.y)
        loss.backward()
        optimizer.step()
        total += loss.item() / len(loader)
    print(f"epoch {epoch}: loss {total:.3f}")
with torch.no_grad():
    batch = next(iter(DataLoader(test, batch_size=len(test))))
    found = head(global_add_pool(encoder(batch.x, batch.edge_index), batch.batch)).argmax(1)
right = int((found == batch.y).sum())
print(f"trained on {len(both)} graphs; {right} of {len(test)} test graphs right")
