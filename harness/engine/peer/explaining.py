"""What explains that two answers differ: a quirk of one of the servers, or a cause that this run has found.

A quirk comes first. A cause is recognised by what was asked, what differs and what led there; after it, by
the names that it has touched.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from harness.catalogue import Quirk
from harness.engine.peer.causes import Example, History, KnownCauses, Seen, names_in
from harness.engine.peer.differences import Difference, kinds_of
from harness.engine.peer.drawing.base import BROKERS
from harness.engine.peer.special import what_of
from harness.engine.peer.taints import Taints
from harness.program.steps import AnyStep
from harness.spec.nameserver.expected import ExpectedState
from harness.spec.quirks import QuirksByStep

NOT_LOOKED_INTO = "not looked into"
"""The cause of all that comes when the run knows as many causes as it can."""
Differing = tuple[AnyStep, tuple[Difference, ...]]
"""A request, and how the answers to it differ."""


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """Two answers that are not the same."""

    index: int
    """Of the step in its program."""
    step: AnyStep
    differences: tuple[Difference, ...]
    quirk: str | None = None
    """The quirk that explains it."""
    cause: str | None = None
    """The known cause that it is of."""
    follows: bool = False
    """It is no new sight of the cause: it is about names that the cause has touched before."""
    news: tuple[Seen, ...] = ()
    """What is not known yet, where nothing explains it."""
    settling: bool = False
    """It was seen after the step, while its effect was waited for."""

    @property
    def is_explained(self) -> bool:
        """Whether a quirk or a known cause explains it."""
        return self.quirk is not None or self.cause is not None


class Explainer:
    """Explains divergences of one program. ``made`` are the symbols of names, by what they stand for."""

    def __init__(
        self, quirks: QuirksByStep[ExpectedState], causes: KnownCauses, made: Mapping[str, str]
    ) -> None:
        self.taints = Taints()
        self.triggered: dict[str, int] = {}
        """Steps that were about a quirk, by its id."""
        self.is_apart = False
        """Whether a known cause has left the servers in different states."""
        self.history: History | None = None
        """That of the program, once it is known."""
        self._quirks = quirks
        self._causes = causes
        self._made = made

    def begins(self, step: AnyStep, expected: ExpectedState) -> list[Quirk]:
        """The quirks that a step is about which is going to be carried out; what they touch is tainted."""
        quirks = self._quirks.triggered_by(step, expected)
        for quirk in quirks:
            self.triggered[quirk.id] = self.triggered.get(quirk.id, 0) + 1
            self.taints.add(quirk, step, expected)
        self.taints.spread(step, expected)
        return quirks

    def has_nothing_left(self) -> bool:
        """Whether causes have touched all that a round can be about."""
        return self.is_apart and self.taints.covers(BROKERS)

    def answer(
        self, index: int, step: AnyStep, differs: tuple[Difference, ...], triggered: Sequence[Quirk]
    ) -> Divergence:
        """The divergence of the answers to a step."""
        by = _explanation(differs, step, self.taints, triggered)
        return self._divergence(index, step, [(step, differs)], by, settling=False)

    def behind(self, index: int, step: AnyStep, seen: Sequence[Differing]) -> Divergence:
        """The divergence of the effects of a step, as later questions show it."""
        by: str | None = None
        rest: list[Differing] = []
        for asked, differs in seen:
            named = _explanation(differs, asked, self.taints, ())
            by = named or by
            if named is None:
                rest.append((asked, differs))
        return self._divergence(index, step, rest or seen, None if rest else by, settling=True)

    def _divergence(
        self, index: int, step: AnyStep, seen: Sequence[Differing], by: str | None, *, settling: bool
    ) -> Divergence:
        """``by`` is the quirk or the cause that has touched all names in it."""
        found = Divergence(
            index=index,
            step=step,
            differences=tuple(one for _, differs in seen for one in differs),
            settling=settling,
        )
        if by is not None and by in self._quirks:
            return msgspec.structs.replace(found, quirk=by)
        news, known = self._recognised(index, seen)
        if not news:
            return msgspec.structs.replace(found, cause=known[0].cause)
        if by is not None:
            return msgspec.structs.replace(found, cause=by, follows=True)
        if self._causes.is_full:
            return msgspec.structs.replace(found, cause=NOT_LOOKED_INTO)
        return msgspec.structs.replace(found, news=tuple(dict.fromkeys(news)))

    def _recognised(self, index: int, seen: Sequence[Differing]) -> tuple[list[Seen], list[Example]]:
        """Of what was seen to differ at a step: what is news, and the examples that the rest is like, whose
        names are tainted.
        """
        news: list[Seen] = []
        known: list[tuple[Example, frozenset[str]]] = []
        history = self.history.until(index) if self.history is not None and self._causes.examples else []
        names = set(history[-1].names) if history else set()
        for asked, differs in seen:
            names |= names_in(asked, (fact for one in differs for fact in one.facts()), self._symbols())
        for asked, differs in seen:
            for kind in kinds_of(differs):
                one = Seen(what_of(asked), kind)
                found = self._causes.recognised(one, history, names) if history else None
                if found is None:
                    news.append(one)
                else:
                    known.append(found)
        if not news:
            for example, touches in known:
                if example.taints:
                    self.is_apart = True
                    self.taints.touch(touches, example.cause)
        return news, [example for example, _ in known]

    def _symbols(self) -> Collection[str]:
        return self._made.values()


def _explanation(
    found: tuple[Difference, ...], step: AnyStep, taints: Taints, triggered: Sequence[Quirk]
) -> str | None:
    """The quirk that explains all differences of an answer; the last of them where it takes several.

    An answer of another code is another answer altogether. A dialect that nothing else explains goes with the
    body: what is not there is in no dialect.
    """
    by = None
    for one in sorted(found, key=lambda one: _FIRST.get(one.field, 1)):
        quirk = next((quirk.id for quirk in triggered if one.field in quirk.differs), None)
        named = quirk or taints.explains(one, step)
        if one.field == "code" and named is not None:
            return named
        if named is None and (one.field != "dialect" or by is None):
            return None
        by = named or by
    return by


_FIRST = {"code": 0, "dialect": 2}
