"""Statistics of mining: pure functions of counts, each with its source. SciPy computes what it is fast at.

Invariants:
- No frame, no clock, no randomness: numbers in, numbers out. Impossible numbers raise ``ValueError``.
- Intervals are two-sided at 95 % unless a docstring says otherwise.
"""
