"""Which quirks the commands that play programs look for: those of the server, however it is reached."""

from __future__ import annotations

import argparse
from typing import Literal

import pytest

from harness.catalogue import catalogue, known_quirks
from harness.cli.asked import quirks_for
from harness.cli.diff import _quirks as quirks_of_diff
from harness.cli.parser import Usage, build_parser
from harness.engine.broker.role import PREDICATES as BROKER_PREDICATES
from harness.engine.context import TargetContext
from harness.engine.controller.role import PREDICATES as CONTROLLER_PREDICATES
from harness.engine.kinds import Setting
from harness.engine.nameserver.quirk_checks import QUIRK_CHECKS
from harness.engine.peer.differences import FIELDS
from harness.spec.nameserver.predicates import PREDICATES as NAMESERVER_PREDICATES
from harness.spec.quirks import unknown_words
from harness.targets import parse

APACHE = "apache-nameserver@5.3.3"
REACHED = [
    ("apache:5.3.3", ""),
    ("apache:5.3.3?warp=60", ""),
    ("docker:apache/rocketmq:5.3.3", ""),
    ("tcp://127.0.0.1:9876", APACHE),
    ("exec:java -jar namesrv.jar {port}", APACHE),
]


def _context(uri: str, quirks: str) -> TargetContext:
    """That of fuzz and of campaign."""
    target, profile = parse(uri), "5.3"
    return Setting(target=target, profile=profile, quirks=quirks, words="w").context()


@pytest.mark.parametrize(("uri", "said"), REACHED)
def test_every_command_knows_the_same_quirks_however_a_server_is_reached(uri: str, said: str) -> None:
    known = set(known_quirks("nameserver", APACHE))
    assert len(known) > 20
    assert set(quirks_for("check", said, parse(uri))) == known
    assert set(_context(uri, said).quirks) == known
    options = argparse.Namespace(quirks=said)
    diff = quirks_of_diff(options, [parse("builtin:5.3"), parse(uri)])
    assert set(diff) == {one for one in known if one.when is not None}


@pytest.mark.parametrize("uri", ["builtin:5.3", "tcp://127.0.0.1:9876", "exec:./ns {port}", "docker:mine"])
def test_a_server_that_is_not_known_has_no_quirks(uri: str) -> None:
    assert _context(uri, "").quirks == ()


def test_the_quirks_of_a_known_server_can_be_left_aside() -> None:
    assert _context("apache:5.3.3", "none").quirks == ()


def test_releases_have_their_own_quirks() -> None:
    ids = {
        v: {one.id for one in known_quirks("nameserver", f"apache-nameserver@{v}")}
        for v in ("4.9.8", "5.3.3")
    }
    assert "quirk.expiry-scan-ends" in ids["4.9.8"] - ids["5.3.3"]
    assert "quirk.replaced-address-stays-live" in ids["5.3.3"] - ids["4.9.8"]


def test_a_mistake_says_what_is_known() -> None:
    with pytest.raises(Usage, match="expected none or one of apache-nameserver@VERSION; did you mean"):
        quirks_for("fuzz", "apache-nameservr@5.3.3", parse("builtin:"))


@pytest.mark.parametrize("command", ["check", "fuzz", "diff builtin: builtin:", "campaign"])
def test_every_command_takes_the_option(command: str) -> None:
    assert build_parser().parse_args([*command.split(), "--quirks", APACHE]).quirks == APACHE


@pytest.mark.parametrize(
    ("role", "predicates"),
    [
        ("nameserver", {**NAMESERVER_PREDICATES, **CONTROLLER_PREDICATES}),
        ("broker", BROKER_PREDICATES),
    ],
)
def test_quirks_speak_of_steps_predicates_and_fields_that_exist(
    role: Literal["nameserver", "broker"], predicates: dict[str, object]
) -> None:
    quirks = catalogue().of(role).quirks
    assert {quirk.id: unknown_words(quirk, predicates, FIELDS) for quirk in quirks if quirk.when} == {
        quirk.id: [] for quirk in quirks if quirk.when
    }
    assert {word for quirk in quirks if quirk.when for word in quirk.when.holds} == set(predicates)
    assert all(predicate.__doc__ for predicate in predicates.values())


def test_what_comes_and_goes_in_programs_can_be_proven() -> None:
    assert set(QUIRK_CHECKS) == {one.id for one in catalogue().quirks if one.when and one.is_intermittent}
