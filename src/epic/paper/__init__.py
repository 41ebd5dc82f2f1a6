"""The paper's tables and figures next to ours: plans, printed numbers, experiments, tables and the report."""
