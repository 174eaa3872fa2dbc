"""The peer oracle: one program on two targets, and where their answers differ.

`comparison` plays a program on both and compares, `experiment` makes that repeatable for triage, `rounds` is
the run of `diff`, `journal` its record.
"""
