"""The peer oracle: one program on two targets, and where their answers differ.

`comparison` plays a program on both and compares, `explaining` says what explains a difference, `experiment`
makes that repeatable for triage, `learning` makes a known cause of what nothing explains, `rounds` is the run
of `diff`, `journal` its record and `summary` what it came to.
"""
