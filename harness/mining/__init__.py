"""Campaigns of very many runs, kept as Parquet, and what is learnt from them, with Spark.

Rules of this package: only the command line imports it; `pyarrow` and `pyspark` are imported by those of its
modules that need them and by nobody else; what judges and plays is below, in `harness.machines` and
`harness.findings`.
"""
