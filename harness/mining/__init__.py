"""Campaigns of very many runs, kept as Parquet, and what they have in common, with Spark.

Invariants:

* Only the command line imports it. What plays and judges is below, in `harness.engine` and
  `harness.findings`.
* Spark and its companions are imported in the modules that pyproject's import rule names, and those modules
  are imported when they are used: every other command starts without them.
* A problem with the machine, the cluster or the data ends in a `MiningError` that says what to do.
"""
