"""What the rules of programs for a controller do.

As in `harness.engine.nameserver.strategies`: makers are pure, the first choice is the plainest, and a maker
that finds nothing to work on makes what it needs.
"""
