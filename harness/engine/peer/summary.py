"""What a run came to, from its journal: causes, what explains the rest, and what was not reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.catalogue import Quirk, profile_named
from harness.engine.peer.causes import Example, KnownCauses
from harness.engine.peer.drawing.base import NEEDS
from harness.engine.peer.explaining import NOT_LOOKED_INTO
from harness.engine.peer.journal import Entry, Head
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Time
from harness.program.steps import TITLES
from harness.report.diff_page import Cause, Comparison, Death, Explained, Shown
from harness.report.text import plural
from harness.version import version

_REMARKS = (
    ("unrepeated", "divergence", "that did not show again"),
    ("repeated", "round", "repeated because a clock ran ahead or servers were not quiet"),
    ("given_up", "round", "given up"),
    ("left_out", "round", "left out: minutes of real time, or no new servers to be had"),
    ("restarted", "round", "with new servers"),
)


def summary_of(
    head: Head,
    entries: Sequence[Entry],
    quirks: Sequence[Quirk],
    *,
    asked: int,
    seconds: float,
    conclusion: str,
    exit_status: int,
    why: str,
    is_kept: bool,
) -> Comparison:
    """The run of a journal. ``is_kept``: findings have folders."""
    examples = [example for entry in entries for example in entry.learnt]
    explained, triggered, seen, followed, kinds = (
        _sum([getattr(entry, name) for entry in entries])
        for name in ("explained", "triggered", "seen", "followed", "asked")
    )
    causes = _causes(examples, seen, followed)
    return Comparison(
        conclusion=conclusion,
        exit_status=exit_status,
        a=head.a,
        b=head.b,
        profile=head.profile,
        seed=head.seed,
        compare=head.compare,
        steps=sum(entry.steps for entry in entries),
        asked=asked,
        rounds=len(entries),
        seconds=round(seconds, 1),
        suite=version(),
        why=why,
        causes=tuple(one for one in causes if not one.explained),
        releases=tuple(one for one in causes if one.explained),
        quirks=tuple(
            Explained(name=quirk.id, what=quirk.instead, steps=triggered[quirk.id], times=explained[quirk.id])
            for quirk in quirks
            if triggered[quirk.id]
        ),
        deaths=tuple(
            Death(words=words, folder=f"findings/{name}" if is_kept else "")
            for entry in entries
            for name, words in entry.deaths.items()
        ),
        more=seen[NOT_LOOKED_INTO],
        unrepeated=sum(entry.unrepeated for entry in entries),
        remarks=tuple(
            f"{plural(number, noun)} {text}"
            for name, noun, text in _REMARKS
            if (number := sum(getattr(entry, name) for entry in entries))
        ),
        unasked=tuple(_unasked(kinds, head.profile)),
        avoided=tuple(KnownCauses(examples).avoided()),
    )


def _sum(counts: Sequence[Mapping[str, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in counts:
        found.update(one)
    return found


def _causes(examples: Sequence[Example], seen: Counter[str], followed: Counter[str]) -> list[Cause]:
    """What holds back most first."""
    groups: dict[str, list[Example]] = {}
    names: dict[str, set[str]] = {}
    for example in examples:
        name = _general(example, examples).cause
        groups.setdefault(name, []).append(example)
        names.setdefault(name, {name}).add(example.cause)
    causes = [
        Cause(
            name=name,
            times=sum(seen[one] for one in names[name]),
            followed=sum(followed[one] for one in names[name]),
            apart=any(one.taints for one in group),
            examples=tuple(_shown(one) for one in sorted(group, key=lambda one: len(one.before))),
            explained=group[0].explained if all(one.explained for one in group) else "",
        )
        for name, group in groups.items()
    ]
    return sorted(causes, key=lambda one: -(one.times + one.followed))


def _general(example: Example, examples: Sequence[Example]) -> Example:
    """The example with the same difference in which the least was special, if it is like this one."""
    alike = [
        one
        for one in examples
        if one.seen[0] == example.seen[0]
        and one.explained == example.explained
        and one.trigger.is_in(example.trigger)
    ]
    return min(alike, key=lambda one: len(one.trigger.special), default=example)


def _shown(example: Example) -> Shown:
    return Shown(
        exchange=example.exchange,
        what=tuple(map(str, example.seen)),
        folder=f"findings/{example.finding}" if example.finding else "",
        confirmed=example.confirmed,
    )


def _unasked(asked: Mapping[str, int], profile: str) -> list[str]:
    has = profile_named(profile).has
    missing = []
    for kind in (*ns.AnyRequest.__args__, Close, Time):
        feature = NEEDS.get(kind)
        if feature is not None and not has(feature):
            continue
        rules = kind.rules or (str(kind.__struct_config__.tag),)
        if not any(asked.get(rule) for rule in rules):
            missing.append(TITLES[kind])
    return missing
