"""What the paper measures besides training: one file an experiment."""
