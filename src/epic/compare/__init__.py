"""Which method helps on your graphs: runs, their store, tuning, statistics and verdicts."""
