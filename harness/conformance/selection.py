"""Which cases a run takes, and in which order.

* A case applies under a profile if one of its statements does.
* What decides whether anything can be measured (chapter sanity) runs first, what shows that the target lived
  through it all (chapter endurance) last, and both run whatever else was selected. What is sent by faulty and
  hostile peers comes late: it may harm a server, and the others are not to suffer from it.
* A filter that chooses nothing is a mistake of the user, and is reported.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from harness.catalogue import (
    LEVELS,
    Catalogue,
    Class,
    Level,
    Quirk,
    Statement,
    did_you_mean,
    matches,
    tags_of,
)
from harness.conformance.loading import FIRST, LAST, LATE, LoadedCase
from harness.report.results import PlannedCase, QuirkSummary, StatementSummary


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user selected. Expressions are those of `harness.catalogue.select`, or names of cases."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    level: Level | None = None
    classes: tuple[Class, ...] = ()
    names: tuple[str, ...] | None = None
    """Only these cases, by name; None: any."""
    no_waits: bool = False
    """Leaves out the cases that let time pass."""

    def under_current_ids(self, catalogue: Catalogue) -> Choice:
        """The same selection, with renamed ids replaced by their new names."""
        include, exclude = (tuple(map(catalogue.current, some)) for some in (self.include, self.exclude))
        return replace(self, include=include, exclude=exclude)

    def renamed(self, catalogue: Catalogue) -> tuple[str, ...]:
        """One sentence for each id that has a new name."""
        chosen = (("--select", self.include), ("--exclude", self.exclude))
        return tuple(
            f"{option} {one} is now called {catalogue.current(one)}"
            for option, expressions in chosen
            for one in expressions
            if catalogue.current(one) != one
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen cases, in the order in which they run."""

    profile: str
    cases: tuple[LoadedCase, ...]
    available: int
    planned: tuple[PlannedCase, ...]
    statements: tuple[StatementSummary, ...]
    waiting: int  # cases that were chosen and are left out because they let time pass
    unmatched: tuple[str, ...]  # one sentence for each filter that chooses nothing
    renamed: tuple[str, ...]  # one sentence for each id in a filter that has a new name


def select(catalogue: Catalogue, loaded: Collection[LoadedCase], profile: str, choice: Choice) -> Selection:
    """The cases of a run under `profile`. Empty where the choice leaves no case of its own."""
    renamed = choice.renamed(catalogue)
    choice = choice.under_current_ids(catalogue)
    applicable = [one for one in loaded if one.statements(catalogue, profile)]
    wanted = [one for one in applicable if _chosen(one, catalogue, profile, choice)]
    chosen = [one for one in wanted if not (choice.no_waits and one.case.clock)]
    waiting = len(wanted) - len(chosen)
    if chosen:
        chosen += [one for one in applicable if one.chapter in (*FIRST, *LAST) and one not in chosen]
    chapters = {name: number for number, name in enumerate(catalogue.chapters)}
    chosen.sort(key=lambda one: (_stage(one), chapters.get(one.chapter, len(chapters))))
    return Selection(
        profile=profile,
        cases=tuple(chosen),
        available=len(applicable),
        planned=tuple(_planned(one, catalogue, profile) for one in chosen),
        statements=tuple(summary(one) for one in catalogue.under(profile)),
        waiting=waiting,
        unmatched=tuple(_unmatched(catalogue, loaded, choice)),
        renamed=renamed,
    )


def _stage(one: LoadedCase) -> int:
    stages = (FIRST, (), LATE, LAST)
    return next((number for number, chapters in enumerate(stages) if one.chapter in chapters), 1)


def _chosen(one: LoadedCase, catalogue: Catalogue, profile: str, choice: Choice) -> bool:
    if choice.names is not None and one.name not in choice.names:
        return False
    statements = one.statements(catalogue, profile)
    if choice.level is not None and LEVELS.index(one.level(catalogue, profile)) > LEVELS.index(choice.level):
        return False
    if choice.classes and one.class_(catalogue, profile) not in choice.classes:
        return False
    if any(_hits(one, statements, expression) for expression in choice.exclude):
        return False
    return not choice.include or any(_hits(one, statements, expression) for expression in choice.include)


def _hits(one: LoadedCase, statements: Collection[Statement], expression: str) -> bool:
    return expression == one.name or any(matches(statement, expression) for statement in statements)


def _unmatched(catalogue: Catalogue, loaded: Collection[LoadedCase], choice: Choice) -> list[str]:
    names = {one.name for one in loaded}
    sentences: list[str] = []
    for option, expressions in (("--select", choice.include), ("--exclude", choice.exclude)):
        for expression in expressions:
            if expression in names or any(matches(one, expression) for one in catalogue.statements):
                continue
            hint = _hint(expression, catalogue, names)
            sentences.append(f"{option} {expression} matches no statement and no case{hint}")
    return sentences


def _hint(expression: str, catalogue: Catalogue, names: Collection[str]) -> str:
    if expression.startswith(("cl.", "client-")):
        return "; clients are judged by `rmq-harness remarks FILE`"
    tags = {f"tag:{tag}" for statement in catalogue.statements for tag in tags_of(statement)}
    known: Sequence[str] = [*(one.id for one in catalogue.statements), *catalogue.chapters, *names, *tags]
    hint = did_you_mean(expression, known)
    return hint and f"; {hint}"


def _planned(one: LoadedCase, catalogue: Catalogue, profile: str) -> PlannedCase:
    return PlannedCase(
        name=one.name,
        chapter=one.chapter,
        level=one.level(catalogue, profile),
        class_=one.class_(catalogue, profile),
        statements=tuple(statement.id for statement in one.statements(catalogue, profile)),
        title=one.title(catalogue),
        waits=one.case.clock,
    )


def quirk_summaries(quirks: Collection[Quirk], planned: Collection[PlannedCase]) -> tuple[QuirkSummary, ...]:
    """The quirks that a planned case can see, as reports show them."""
    names = {one.name for one in planned}
    return tuple(
        QuirkSummary(
            id=one.id,
            statements=one.statements,
            cases=tuple(name for name in one.cases if name in names),
            instead=one.instead,
            versions=tuple(map(str, one.versions)),
            source=tuple(map(str, one.source)),
            observed=one.observed,
            issues=one.issues,
            intermittent=one.intermittent,
        )
        for one in quirks
        if names.intersection(one.cases)
    )


def summary(statement: Statement) -> StatementSummary:
    """A statement as reports show it."""
    return StatementSummary(
        id=statement.id,
        chapter=statement.chapter,
        level=statement.level,
        class_=statement.class_,
        text=statement.text,
        source=tuple(str(source) for source in statement.source),
        observed=statement.observed,
        profiles=statement.profiles,
        issues=statement.issues,
        untestable=statement.untestable,
    )
