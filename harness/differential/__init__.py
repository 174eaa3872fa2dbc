"""Differential runs: the same random operations on two targets, and what they do not agree on.

From top to bottom: `run` plays rounds and pursues what diverges, `duel` carries one program out on both
sides, `generate` makes programs of `steps`, `normal` says when answers are the same, `quirks` which
differences have a name (`specs/divergences.yaml`), `model` what should exist meanwhile, `shrink` makes
programs small, `record` keeps them.

Rules of this package: it knows targets by their sessions only, and no implementation; nothing in it decides
by the clock of the machine what is right.
"""
