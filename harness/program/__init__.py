"""Programs: what is done to a target, as values that can be kept, shrunk and done again.

Rules of this package: it is pure and imports `harness.wire` alone; it knows no target, no session and no
verdict. `steps` are the words, `frames` makes bytes of them, `shrink` makes a program small, `chance` makes
pseudo-random sources.
"""
