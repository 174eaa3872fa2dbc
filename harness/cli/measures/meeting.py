"""Which cases meet a fault, and which of them first.

* Those that run its lines. Of many, a few come first: some that run what few cases run near the lines, and
  some from all over the catalogue. Most faults end there.
* What is noticed stays the same: a fault that the first cases do not fail at meets all of them, in their
  order.
* How much time it may use follows from what the cases took on the sound reference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil

import msgspec

from harness.cli.measures.trying import Ran, Trial, Work
from reference_impl.mutants.generated import Site

MANY = 100
"""Cases, over all profiles, of which a few come first."""
_NEAR = 20
"""Lines before and behind the fault's that count as near it."""
_FEW = 12
"""Of each kind and profile."""
_SPARE = 15
"""Seconds of processor time beyond what the cases took while their lines were counted, which is about twice
what they take without.
"""


def trials_of(site: Site, whole: Sequence[Work], ran: Sequence[Ran]) -> tuple[Trial, ...]:
    """The cases that a fault meets, one trial after the other: the last one has all of them."""
    meeting = [
        (msgspec.structs.replace(work, cases=names), of)
        for work, of in zip(whole, ran, strict=True)
        if (names := _running(site, work, of))
    ]
    everything = _trial(meeting)
    if everything.cases < MANY:
        return (everything,)
    first = [(msgspec.structs.replace(work, cases=_first(site, work, of)), of) for work, of in meeting]
    return (_trial(first), everything)


def _trial(meeting: Sequence[tuple[Work, Ran]]) -> Trial:
    took = sum(of.seconds.get(name, 0) for work, of in meeting for name in work.cases)
    return Trial(tuple(work for work, _ in meeting), _SPARE + ceil(took))


def _running(site: Site, whole: Work, ran: Ran) -> tuple[str, ...]:
    """The cases that run the place; all of them if the start of the server runs it."""
    known = ran.lines.get(site.file, {})
    names = {name for number in range(site.line, site.end + 1) for name in known.get(number, ())}
    return whole.cases if "" in names else tuple(one for one in whole.cases if one in names)


def _first(site: Site, work: Work, ran: Ran) -> tuple[str, ...]:
    rarity = _rarity(site, ran.lines.get(site.file, {}))
    near = sorted(work.cases, key=lambda name: -rarity[name])[:_FEW]
    return tuple(dict.fromkeys([*near, *work.cases[:: ceil(len(work.cases) / _FEW)]]))


def _rarity(site: Site, lines: Mapping[int, Sequence[str]]) -> Mapping[str, float]:
    """How much of what few cases run near the place each of them runs."""
    found: defaultdict[str, float] = defaultdict(float)
    for number in range(site.line - _NEAR, site.end + _NEAR + 1):
        names = lines.get(number, ())
        for name in names:
            found[name] += 1 / len(names)
    return found
