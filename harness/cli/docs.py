"""`docs`: the catalogue, rendered to read as a protocol document, and in formats for machines."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import harness.wire
from harness.catalogue import ROLES, catalogue, messages, newest_profile, specs_directory, usage
from harness.catalogue.codes import request_codes
from harness.catalogue.copies import copies
from harness.catalogue.examples import all_examples, examples, path_of
from harness.catalogue.explanations import algorithms, concepts
from harness.catalogue.fields import field_table
from harness.catalogue.scenes import scenes
from harness.cli import example_recording
from harness.cli.asked import profile_of, target_of
from harness.cli.output import complain, say
from harness.cli.parser import Usage
from harness.cli.status import FAILED, OK
from harness.conformance.loading import checked_cases
from harness.control import openapi
from harness.engine.broker.role import PREDICATES as BROKER_PREDICATES
from harness.engine.controller.role import PREDICATES as CONTROLLER_PREDICATES
from harness.engine.peer.comparison import ASKING
from harness.engine.peer.normal import RULES
from harness.report import docs_pictures, machine, wire_codes
from harness.report.docs import InPrograms, NamedRule, render, same_answers, stale, write
from harness.report.docs_chapters import ProvingCase
from harness.report.docs_explanations import explanation_pages
from harness.report.docs_messages import message_pages
from harness.report.docs_scenes import scene_page, scene_pictures
from harness.spec.nameserver.predicates import PREDICATES as NAMESERVER_PREDICATES
from harness.spec.quirks import step_titles
from harness.trace import read_trace


def run(options: argparse.Namespace) -> int:
    """Runs the command; 1 where `--check` finds pages that are not up to date."""
    if options.record:
        _record(options)
    cases: dict[str, list[ProvingCase]] = {}
    for role in ROLES:
        for one in checked_cases(role, unfinished=False):
            proving = ProvingCase(one.name, one.case.title, one.case.kills)
            for identifier in one.case.statements:
                if proving not in cases.setdefault(identifier, []):  # else it is a case for both roles
                    cases[identifier].append(proving)
    traces = {one.name: read_trace(one.trace) for one in scenes() if one.trace.exists()}
    pages = _together(
        render(catalogue(), cases, messages(), _in_programs()),
        message_pages(
            messages(),
            catalogue(),
            list(copies().values()),
            request_codes(),
            {role: field_table(role) for role in ROLES},
            all_examples(),
        ),
        scene_page(scenes(), traces, catalogue()),
        explanation_pages(concepts(), algorithms(), catalogue()),
        same_answers([NamedRule(rule.name, rule.what, rule.why) for rule in RULES], ASKING),
    )
    directory, wire = specs_directory() / "rendered", Path(harness.wire.__file__).parent
    modules = wire_codes.render(messages())
    pictures = _together(
        docs_pictures.pictures(newest_profile("nameserver")), scene_pictures(scenes(), traces)
    )
    formats = machine.render(messages(), catalogue().profiles, usage())
    described = openapi.render()
    if options.check:
        differences = [
            *stale(pages, directory),
            *stale(pictures, directory / docs_pictures.FOLDER, "*.svg"),
            *stale(formats, directory / machine.FOLDER, "**/*"),
            *stale(described, directory / openapi.FOLDER, "*"),
            *stale(modules, wire),
        ]
        for difference in differences:
            complain(difference)
        if differences:
            complain(f"{directory} is not what the catalogue says; run: rmq-harness docs")
        return FAILED if differences else OK
    try:
        changed = [
            *write(pages, directory),
            *write(pictures, directory / docs_pictures.FOLDER, "*.svg"),
            *write(formats, directory / machine.FOLDER, "**/*"),
            *write(described, directory / openapi.FOLDER, "*"),
            *write(modules, wire),
        ]
    except OSError as error:
        raise Usage(f"rmq-harness docs: {directory}: {error.strerror}; the pages go there") from None
    rendered = len(pages) + len(pictures) + len(formats) + len(described) + len(modules)
    say(f"{len(changed)} of {rendered} files changed in {directory}")
    return OK


def _together(*parts: dict[str, str]) -> dict[str, str]:
    """All files. One that two parts write would be lost without a word, so that is an error of ours."""
    names = Counter(name for part in parts for name in part)
    if twice := [name for name, number in names.items() if number > 1]:
        raise ValueError(f"two files are called {', '.join(twice)}; give one of them another name")
    return {name: text for part in parts for name, text in part.items()}


def _record(options: argparse.Namespace) -> None:
    """Writes the examples of a server down. Raises Usage if it is not Apache's."""
    target = target_of("docs", options.record, options, options.role)
    name, _, release = (target.server or "").partition("@")
    if not name.startswith("apache-"):
        raise Usage(
            "rmq-harness docs: --record: expected an Apache server (apache:VERSION), because examples "
            f"show what Apache does; got {options.record}"
        )
    profile = profile_of("docs", "", target, options.role)
    if options.scenes:
        recorded = example_recording.record_scenes(target, options.role, profile)
        say(f"{len(recorded)} scenes recorded")
        return
    found = example_recording.record(target, options.role, profile, options.codes)
    example_recording.write(found, options.role, release)
    examples.cache_clear()
    say(f"{len(found)} examples recorded in {path_of(options.role)}")


def _in_programs() -> dict[str, InPrograms]:
    """By the id of each quirk that a program can bring about: how it does."""
    meanings = {
        name: " ".join((predicate.__doc__ or "").split())
        for name, predicate in (
            *NAMESERVER_PREDICATES.items(),
            *BROKER_PREDICATES.items(),
            *CONTROLLER_PREDICATES.items(),
        )
    }
    return {
        quirk.id: InPrograms(
            steps=step_titles(quirk),
            holds=tuple(meanings[name] for name in quirk.when.holds),
            differs=quirk.differs,
            taints=quirk.taints,
        )
        for quirk in catalogue().quirks
        if quirk.when is not None
    }
