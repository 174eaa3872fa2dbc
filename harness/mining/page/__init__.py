"""Results of mining for people and for other programs: one HTML page, and tables as files.

Invariants:

* The page is made of plain rows. Only `tables` sees Arrow, only `figure` and `plots` see matplotlib.
* The same tables give the same bytes: no clock, no random number, no order but that of the tables.
* Every number stands with its denominator, and an empty table says what that means.
"""
