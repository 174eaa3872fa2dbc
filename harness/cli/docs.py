"""`docs`: the catalogue, rendered to read as a protocol document."""

from __future__ import annotations

import argparse

from harness.catalogue import ROLES, catalogue, messages, specs_directory
from harness.cli.output import complain, say
from harness.cli.parser import Usage
from harness.cli.status import FAILED, OK
from harness.differential.duel import ASKING
from harness.differential.model import PREDICATES
from harness.differential.normal import RULES
from harness.differential.quirks import quirks, titles_of
from harness.pytest_plugin import loaded_cases
from harness.report.divergences import NAME as DIVERGENCES
from harness.report.divergences import NamedDivergence, NamedRule
from harness.report.divergences import render as render_divergences
from harness.report.docs import ProvingCase, render, stale, write
from harness.report.docs_messages import message_pages
from harness.report.docs_quirks import server_pages


def run(options: argparse.Namespace) -> int:
    """Runs the command; 1 where `--check` finds pages that are not up to date."""
    cases: dict[str, list[ProvingCase]] = {}
    for role in ROLES:
        for one in loaded_cases(role, unfinished=False):
            proving = ProvingCase(one.name, one.case.title, one.case.kills)
            for identifier in one.case.statements:
                if proving not in cases.setdefault(identifier, []):  # else it is a case for both roles
                    cases[identifier].append(proving)
    pages = {
        **render(catalogue(), cases, messages()),
        **message_pages(messages(), catalogue()),
        **server_pages(catalogue()),
        DIVERGENCES: _divergences(),
    }
    directory = specs_directory() / "rendered"
    if options.check:
        differences = stale(pages, directory)
        for difference in differences:
            complain(difference)
        if differences:
            complain(f"{directory} is not what the catalogue says; run: rmq-harness docs")
        return FAILED if differences else OK
    try:
        changed = write(pages, directory)
    except OSError as error:
        raise Usage(f"rmq-harness docs: {directory}: {error.strerror}; the pages go there") from None
    say(f"{len(changed)} of {len(pages)} pages changed in {directory}")
    return OK


def _divergences() -> str:
    rules = [NamedRule(rule.name, rule.what, rule.why) for rule in RULES]
    named = [
        NamedDivergence(
            id=quirk.id,
            profiles=quirk.profiles,
            targets=quirk.targets,
            steps=titles_of(quirk),
            when=quirk.when,
            differs=quirk.differs,
            taints=quirk.taints,
            passing=quirk.passing,
            text=quirk.text,
            reference=quirk.reference,
            source=quirk.source,
            statements=quirk.statements,
        )
        for quirk in quirks()
    ]
    meanings = {name: " ".join((predicate.__doc__ or "").split()) for name, predicate in PREDICATES.items()}
    return render_divergences(rules, ASKING, named, meanings)
