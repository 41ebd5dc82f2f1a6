"""Pictures of edit paths."""
