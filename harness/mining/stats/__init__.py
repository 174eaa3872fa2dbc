"""Statistics of mining: pure functions of counts.

Rules of this package:
- No frame, no clock, no chance: numbers in, numbers out. What is impossible raises ``ValueError``.
- Each formula is here once; queries count, and what is made of the counts is made by these functions.
- Each names its source. Intervals are two-sided at 95 % unless told otherwise.
"""
