import time

from epic.augment import DropEdge


class SlowAtFirst(DropEdge):
    """Takes long at its first call, as what has to be compiled does."""

    seconds = 1.0
    fresh = True

    def augment_graphs(self, graphs, picked, generator):
        if self.fresh:
            time.sleep(self.seconds)
        self.fresh = False
        return super().augment_graphs(graphs, picked, generator)
