"""The paper's tables and figures beside ours: plans, printed numbers, experiments, tables and the report."""
