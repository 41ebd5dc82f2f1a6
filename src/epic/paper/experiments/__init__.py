"""What the paper measures apart from training: one file an experiment."""
