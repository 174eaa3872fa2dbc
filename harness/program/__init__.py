"""Programs: what is done to a target, as values that can be kept, shrunk and done again.

Pure, and it imports `harness.wire` alone: it knows no target, no session and no verdict. `steps` are the
words, those of a role in `nameserver` and `broker`; `frames` makes bytes of them, `shrink` makes a program
small, `chance` makes pseudo-random sources.
"""
