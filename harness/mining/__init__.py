"""Campaigns of very many runs, kept as Parquet, and what is learnt from them, with Spark.

Rules of this package:

* Only the command line imports it. What judges and plays is below, in `harness.machines` and
  `harness.findings`.
* Spark and what comes with it are imported in the modules that pyproject's import rule names, and those
  modules are imported when they are used: every other command starts without them.
* What is wrong with the machine, the cluster or the data ends in a `MiningError` that says what to do.
"""
