"""Machines: random programs against running NameServers, played, judged and counted.

Rules of this package:
- Whatever is done to a target is a step of `harness.program`; `player` is the only module that carries steps
  out, over sessions, so that everything is in one trace.
- What came of a step is an `Observed`; only judges (`harness.model`) say what is wrong.
- A program is decided by its seed, never by a clock; it ends by looking at everything that can be seen.
"""
