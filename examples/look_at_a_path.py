"""
02 Path: what turns one graph into another
==========================================

You learn: how to get a path under a learned cost, to read its operations, to take the graph and the soft label at any
step, and to draw it as a strip of pictures and as a page with a slider. Run it: ``python examples/look_at_a_path.py``
"""

from epic import EPIC
from epic.data import lollipop, lollipop_graph

# %%
# Any two graphs will do: ``edit_path(source, target, matching="edges")`` counts edits and needs no labels. Here costs
# are learned, so that the path knows which edits matter: the class of a lollipop is the size of its head, the clique,
# and the tail does not matter. ``matching="edges"`` also counts edges, so that what can stay together does.
augment = EPIC(matching="edges", seed=0).fit(lollipop(160, seed=0), epochs=10, progress=False)
source = lollipop_graph(4, 5, label=0)  # head of 4, tail of 5
target = lollipop_graph(6, 3, label=2)  # head of 6, tail of 3
path = augment.path(source, target, seed=0)
print(path)

# %%
# Each operation has a kind, a node of the source, a node of the target, and a cost, and lists the edge operations that
# it completes. The most expensive nodes tell what matters: those of the head, 0 to 3.
most_expensive = sorted(path.operations, key=lambda op: -op.cost)[:5]
for operation in most_expensive:
    print(operation)

# %%
# The path as a strip. Under each graph stand the share of the cost spent and the soft label that follows from it.
strip = path.plot(steps=6)

# %%
# The graph after k operations is an ordinary ``Data``, and knows where its nodes come from (-1: from none).
k = len(path) // 2
graph = path[k]
label = [round(v, 2) for v in path.label(k).tolist()]
print(f"after {k} of {len(path)} operations: {graph.num_nodes} nodes, {graph.num_edges // 2} edges")
print(f"{path.fraction(k):.0%} of the cost is spent, so the label is {label}")
print(f"its nodes come from nodes {graph.source_node.tolist()} of the source")

# %%
# In a notebook, the path alone shows a page with a slider; ``path.save("path.html")`` writes it. Try the arrow keys.
path
