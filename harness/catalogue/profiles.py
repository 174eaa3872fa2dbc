"""Profiles: release lines as values. Code asks for a feature or a time, never for the name of a line.

A file of `specs/profiles` says what differs from its `base`; the rest it inherits.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

import msgspec

from harness.catalogue.errors import CatalogueError, CatalogueProblems
from harness.catalogue.files import checked, name_of, specs_directory
from harness.catalogue.roles import Role
from harness.catalogue.versions import numbers

Feature: TypeAlias = Literal[
    "acting-master",  # a slave may stand in for a master that has gone
    "announced-alone",  # a Broker announces a topic that a send makes alone, and awaits the answer
    "bare-batches",  # a Broker stores messages of a batch with their own properties alone
    "brokers-by-cluster",  # a lease belongs to a cluster and an address, not to an address alone
    "busy-slaves",  # a Broker that is not the master answers SYSTEM_BUSY (2), and is not read from
    "checked-commits",  # a Broker takes offsets of known groups and topics only; deletion takes them along
    "delayed-messages",  # a Broker delivers a message at a time that the message names
    "heartbeats",  # BROKER_HEARTBEAT (904) and GET_BROKER_MEMBER_GROUP (901) are served
    "late-ends",  # the end of a transaction whose half message is no longer immune is refused
    "missing-topics",  # a registration with a known data version adds the topics that are missing
    "own-lease",  # a registration may name the length of its lease
    "own-resets",  # a Broker itself sets the offsets that an administrator resets
    "pops",  # a Broker gives messages to groups by POP_MESSAGE (200050)
    "proxy-protocol",  # a connection may begin with a PROXY preamble
    "queued-unregistration",  # an unregistration is answered before it is done
    "ranked-registration",  # a registration of a lower rank, or of one topic alone, is refused or ignored
    "recalls",  # a Broker takes back messages that wait for their time (370)
    "refused-codes",  # an unknown request code is refused; without it, it is not answered
    "renewing-queries",  # QUERY_DATA_VERSION (322) renews the lease whatever it says, without a body too
    "safe-scan",  # the search for leases that have run out survives Brokers that come and go meanwhile
    "settings-of-5",  # the NameServer's file and UPDATE_NAMESRV_CONFIG (318) know the settings of 5.x
    "state-version",  # a data version has a stateVersion
    "static-topics",  # a registration carries the queue mappings of static topics
    "strict-utf8",  # a header that is no UTF-8 is refused; without it, it is read with U+FFFD
    "text-filters",  # filters by SQL92 have CONTAINS, STARTSWITH and ENDSWITH
    "told-region",  # a Broker writes its region, and whether it traces, into every message
    "topic-attributes",  # a topic configuration has attributes, in the compressed form too
    "topic-registration",  # REGISTER_TOPIC_IN_NAMESRV (217) is served
    "unregistration-by-address",  # it removes the address that it names, whatever its id
    "zones",  # a Broker names its zone, and routes can be limited to one
]

Name = TypeVar("Name", bound=str)

_OWN: Final = ("name", "title", "text", "reference", "first", "base", "default")
"""What a profile never inherits."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One release line. The JSON Schema says what each member means."""

    name: str
    title: str
    text: str
    reference: str
    first: str = ""
    base: str | None = None
    default: bool = False
    roles: tuple[Role, ...] = ("nameserver",)
    engine: Literal["fastjson", "fastjson2"] = "fastjson"
    announces: int = 0
    lease: float = 0.0
    scan_interval: float = 0.0
    idle: float = 0.0
    features: frozenset[Feature] = frozenset()

    def has(self, feature: Feature) -> bool:
        """Whether servers of this line have the feature."""
        return feature in self.features

    @property
    def surely_open(self) -> float:
        """Protocol seconds for which a connection may surely be quiet."""
        return self.idle / 2

    @property
    def quiet(self) -> float:
        """Protocol seconds of quiet after which a server may well have ended a connection."""
        return self.idle - 10.0

    @property
    def surely_live(self) -> float:
        """Protocol seconds after which what was registered may well have expired."""
        return self.lease - 20.0


@functools.cache
def profiles(role: Role | None = None) -> tuple[Profile, ...]:
    """The profiles of this installation, the oldest first; those of one role."""
    problems: list[CatalogueError] = []
    found = load_profiles(specs_directory(), problems)
    if problems:
        raise CatalogueProblems(problems)
    return tuple(one for one in found if role is None or role in one.roles)


@functools.cache
def profile_named(name: str) -> Profile:
    """The profile of this name. Raises `KeyError` where there is none."""
    return {one.name: one for one in profiles()}[name]


def default_profile() -> Profile:
    """The profile that a server is judged by where nothing says its line."""
    return next(one for one in profiles() if one.default)


def newest_profile(role: Role) -> Profile:
    """The newest line of a role: what its reference is where nothing says a line."""
    return profiles(role)[-1]


def release_line(version: str) -> Profile:
    """The profile of a release of Apache's server: the newest that begins with it or before it."""
    begun = [one for one in profiles() if numbers(one.first) <= numbers(version)]
    return begun[-1] if begun else profiles()[0]


def nearest_line(name: str, known: Iterable[Name]) -> Name:
    """Which of the lines that something knows a profile is: its own name, or that of its nearest base.

    Raises:
        KeyError: it knows none of them.
    """
    by_name = {str(one): one for one in known}
    profile = profile_named(name)
    while profile.name not in by_name and profile.base is not None:
        profile = profile_named(profile.base)
    return by_name[profile.name]


def load_profiles(specs: Path, problems: list[CatalogueError]) -> list[Profile]:
    """The profiles of a directory like `specs/`, the oldest first; what is wrong goes to `problems`."""
    read: dict[str, dict[str, Any]] = {}
    for path in sorted((specs / "profiles").glob("*.yaml")):
        data = checked(path, specs, "profile", problems)
        if data is not None:
            problems += _mistakes(path, data)
            read[data["name"]] = data
    for name, data in read.items():
        if data.get("base", name) not in read:
            where = f"specs/profiles/{name}.yaml"
            known = ", ".join(sorted(read))
            problems.append(
                CatalogueError(where, f"there is no base {data['base']!r}", f"profiles are: {known}")
            )
    if problems:
        return []
    found = sorted(
        (msgspec.convert(_whole(name, read), Profile) for name in read), key=lambda one: numbers(one.name)
    )
    problems += _defaults(found)
    return found


def _whole(name: str, read: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What a file says, with what it inherits."""
    own = read[name]
    base = _whole(own["base"], read) if "base" in own else {}
    inherited = {key: value for key, value in base.items() if key not in _OWN}
    features = sorted({*base.get("features", ()), *own.get("features", ())})
    return {"first": f"{name}.0", **inherited, **own, "features": features}


def _mistakes(path: Path, data: dict[str, Any]) -> Iterator[CatalogueError]:
    name, base = data["name"], data.get("base")
    if name != path.stem:
        yield CatalogueError(name_of(path), f"it is named {name!r}", f"name the file {name}.yaml")
    if base is not None and numbers(base) >= numbers(name):
        yield CatalogueError(name_of(path), f"its base {base} is not older", "inherit from an older line")
    for feature in sorted({*data.get("features", ())} - {*get_args(Feature)}):
        yield CatalogueError(
            name_of(path), f"there is no feature {feature!r}", f"features are: {', '.join(get_args(Feature))}"
        )


def _defaults(found: Iterable[Profile]) -> Iterator[CatalogueError]:
    names = [one.name for one in found if one.default]
    if len(names) != 1:
        yield CatalogueError(
            "specs/profiles", f"{len(names)} profiles say `default: true`", "let one profile say it"
        )
