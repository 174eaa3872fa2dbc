"""What mining found, for people and for other programs: tables as files, and one HTML page.

Rules of this package:

* The page is made of plain rows. Only `tables` sees Arrow, only `figure` and `plots` see matplotlib.
* The same tables give the same bytes: no clock, no random number, no order that is not the tables' own.
* Each number stands with what it is a part of, and what is empty is said.
"""
