"""Edit distances of pairs, whole matrices, nearest neighbours, and what a cost says of each node."""
