"""From what a user types to a target.

A URI is checked whole before anything is started; nothing is guessed; every error shows
a URI that would be right.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, urlsplit

from harness.catalogue import Role, newest_profile, profiles
from harness.session import DEFAULT_SETUP, Instance, Setup
from harness.targets import warp as faketime
from harness.targets.apache import ApacheTarget
from harness.targets.builtin.broker import BuiltinBroker
from harness.targets.builtin.target import BuiltinInstance, BuiltinTarget, problem_with_mutant
from harness.targets.capabilities import Capabilities
from harness.targets.command import ExecBrokerTarget, ExecTarget
from harness.targets.container import DockerTarget
from harness.targets.errors import TargetError
from harness.targets.remote import TcpBrokerTarget, TcpTarget

_FORMS: dict[Role, str] = {
    "nameserver": "tcp://HOST:PORT, exec:'COMMAND {port}', apache:VERSION[?warp=60], docker:IMAGE[?warp=60]",
    "broker": (
        "tcp://HOST:PORT with --nameserver HOST:PORT, exec:'COMMAND {port} {nameserver}', "
        "apache:VERSION[?warp=20]"
    ),
}

_IMAGE = re.compile(r"[a-z0-9][\w.:/-]*(@sha256:[0-9a-f]{64})?")
"""Enough to tell a slip from a name; the engine knows the rest."""


class Shareable(Instance, Protocol):
    """An instance that can tell another process how to use it."""

    def shared(self) -> dict[str, str | int | float] | None:
        """What ``attach`` takes; None where the target lives in this process."""
        ...


class Target(Protocol):
    """A target that is named and not started."""

    @property
    def uri(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities:
        """What those must know who play on it."""
        ...

    @property
    def line(self) -> str | None:
        """The profile that fits it, where the URI says so."""
        ...

    @property
    def server(self) -> str | None:
        """The known server that it is, as `NAME@VERSION`: its quirks are looked for (``specs/targets``)."""
        ...

    @property
    def waits_alone(self) -> bool:
        """Whether cases that wait for leases must have instances for themselves: its expiry scan does not
        survive that others come and go meanwhile.
        """
        ...

    def start(self) -> Shareable:
        """A running instance: a new one each time, where the target can be started. Raises
        ``TargetError``.
        """
        ...

    def another(self, setup: Setup = DEFAULT_SETUP) -> Shareable:
        """A new instance that is started with these settings, for some cases alone.

        Raises ``Unsupported`` where there is but one, or where it takes no settings.
        """
        ...


def forms(role: Role = "nameserver") -> str:
    """What can be written as a target, for messages and help."""
    return f"builtin:[{'|'.join(_lines(role))}], {_FORMS[role]}"


def _lines(role: Role) -> list[str]:
    """The lines that ``builtin:`` can be."""
    return [profile.name for profile in profiles(role)]


def parse(uri: str, role: Role = "nameserver", nameserver: str = "", *, logs: Path | None = None) -> Target:
    """The target that ``uri`` names, as a server of this role. Raises ``TargetError`` where it names none.

    ``logs`` is the directory where processes that are started here leave what they write; None: nowhere.

    ``nameserver`` is where a Broker that others run (``tcp:``) finds our NameServer:
    ``HOST:PORT``.
    """
    is_broker = role == "broker"
    if nameserver and not (is_broker and uri.startswith("tcp:")):
        raise TargetError(
            expected="a NameServer's address only for a Broker that runs already (tcp://HOST:PORT)",
            got=f"{nameserver} for {uri}",
            do="leave --nameserver out: a Broker that is started here gets the address of ours",
        )
    scheme, colon, rest = uri.partition(":")
    if colon and scheme == "builtin":
        return _builtin(uri, rest, role)
    if colon and scheme == "tcp":
        host, port = _address(uri)
        if is_broker:
            return TcpBrokerTarget(uri, host, port, _ours(nameserver))
        return TcpTarget(uri, host, port)
    if colon and scheme == "exec":
        command, options = _options(uri, rest, {"warp"})
        return (ExecBrokerTarget if is_broker else ExecTarget)(uri, command, _warp(uri, options), logs)
    if colon and scheme == "apache":
        version, options = _options(uri, rest, {"warp"})
        if not re.fullmatch(r"\d[\w.-]*", version):
            raise _wrong(uri, "a version after apache:", "apache:5.3.3")
        return ApacheTarget(uri, version, _warp(uri, options), role, logs)
    if colon and scheme == "docker" and not is_broker:
        return _docker(uri, rest)
    raise TargetError(
        expected=f"one of {forms(role)}",
        got=uri or "nothing",
        do="name the target in one of these forms",
    )


def spelled_out(uri: str, role: Role = "nameserver") -> str:
    """The same target, with the profile that ``builtin:`` may leave out: two spellings are one target where
    what was recorded is counted.
    """
    scheme, _, rest = uri.partition(":")
    return (
        f"builtin:{newest_profile(role).name}{rest}" if scheme == "builtin" and rest[:1] in ("", "?") else uri
    )


def _builtin(uri: str, rest: str, role: Role) -> BuiltinTarget:
    is_broker = role == "broker"
    lines = _lines(role)
    profile, options = _options(uri, rest, {"mutant"})
    found = profile or newest_profile(role).name
    if found not in lines:
        raise _wrong(uri, f"a profile after builtin: ({', '.join(lines)}), or nothing", "builtin:5.3")
    mutant = options.get("mutant")
    if mutant is not None and (problem := problem_with_mutant(mutant, role, found)):
        raise TargetError(
            expected="a mutant of the reference",
            got=uri,
            why=problem,
            do="name one of them, or leave ?mutant= out",
        )
    return BuiltinTarget(uri, found, mutant, BuiltinBroker if is_broker else BuiltinInstance)


def _address(uri: str) -> tuple[str, int]:
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port or parts.path or parts.query or parts.fragment or parts.username is not None:
        raise _wrong(
            uri, "tcp://HOST:PORT with a port from 1 to 65535, and nothing behind it", "tcp://127.0.0.1:9876"
        )
    return host, port


def _ours(nameserver: str) -> tuple[str, int]:
    host, _, port = nameserver.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise TargetError(
            expected="the address of this machine where the Broker looks for a NameServer, HOST:PORT",
            got=nameserver or "nothing",
            why="what a Broker tells its NameServers is half of what is judged",
            do="start the Broker with namesrvAddr=HOST:PORT, and say --nameserver HOST:PORT",
        )
    return host, int(port)


def _docker(uri: str, rest: str) -> DockerTarget:
    image, options = _options(uri, rest, {"profile", "warp"})
    if not _IMAGE.fullmatch(image):
        raise _wrong(uri, "the name of an image after docker:", "docker:apache/rocketmq:5.3.3")
    profile = options.get("profile")
    lines = _lines("nameserver")
    if profile is not None and profile not in lines:
        raise _wrong(uri, f"profile= with one of {', '.join(lines)}", f"docker:{image}?profile=5.3")
    return DockerTarget(uri, image, _warp(uri, options), profile)


def _options(uri: str, rest: str, known: set[str]) -> tuple[str, dict[str, str]]:
    """Splits what is behind the last ``?`` off, where it looks like options: a command may have others."""
    match = re.fullmatch(r"(.*)\?([a-z]+=[^?\s]*)", rest, re.DOTALL)
    if match is None:
        return rest, {}
    options = dict(parse_qsl(match[2], keep_blank_values=True))
    for name in options:
        if name not in known:
            raise _wrong(uri, f"no option but {', '.join(sorted(known))}", f"{uri.partition('?')[0]}")
    return match[1], options


def _warp(uri: str, options: dict[str, str]) -> float:
    text = options.get("warp", "1")
    try:
        warp = float(text)
    except ValueError:
        warp = 0.0
    if not 1 <= warp <= faketime.HIGHEST:
        raise _wrong(
            uri, f"warp= with a number from 1 to {faketime.HIGHEST:g}", f"{uri.rpartition('?')[0]}?warp=60"
        )
    return warp


def _wrong(uri: str, expected: str, example: str) -> TargetError:
    return TargetError(expected=expected, got=uri, do=f"write for instance {example}")
