"""What a RocketMQ for tests is made of: checked before anything starts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

import msgspec

from reference_impl.broker import PARTS
from reference_impl.broker import Config as BrokerConfig
from reference_impl.remoting.errors import ConfigError
from reference_impl.remoting.tls_settings import TLS_KEYS
from reference_impl.remoting.values import shown
from reference_impl.serve import Size, StartError

from .problems import OptionError

QUEUES = 4
"""Queues of a topic where no number is given."""
_MOST_QUEUES = 1024

_OURS = {
    "brokerName": "each master has its own",
    "brokerId": "0 is the master, slaves count from 1",
    "brokerRole": "it follows from `masters` and `slaves`",
    "listenPort": "free ports are taken",
    "namesrvAddr": "it follows from `nameservers`",
    "storePathRootDir": "use `store`",
}
"""Settings that the cluster makes itself, and why."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that `RocketMQ` can be given, as it is used."""

    profile: str
    size: Size
    port: int
    topics: dict[str, int]
    """Number of queues by topic."""
    groups: tuple[str, ...]
    store: Path | None
    settings: BrokerConfig


def checked(
    *,
    profile: str,
    masters: int,
    slaves: int,
    nameservers: int,
    port: int,
    topics: Iterable[str] | Mapping[str, int],
    groups: Iterable[str],
    store: str | os.PathLike[str] | None,
    config: Mapping[str, str | int | bool] | None,
) -> Options:
    """The options, all of them good. Raises OptionError."""
    if profile not in PARTS:
        raise OptionError(f"profile={profile!r}: expected one of {', '.join(map(repr, PARTS))}")
    for name, number in (("masters", masters), ("slaves", slaves), ("nameservers", nameservers)):
        _whole(name, number)
    size = Size(nameservers=nameservers, masters=masters, slaves=slaves)
    try:
        size.check()
    except StartError as error:
        raise OptionError(str(error).removeprefix("--")) from None
    if not 0 <= _whole("port", port) <= 65_535:
        raise OptionError(f"port={port}: expected a number from 0 (any free one) to 65535")
    return Options(
        profile=profile,
        size=size,
        port=port,
        topics={
            name: queues_of(name, queues)
            for name, queues in (
                topics.items()
                if isinstance(topics, Mapping)
                else ((name, QUEUES) for name in _names("topics", topics))
            )
        },
        groups=tuple(_names("groups", groups)),
        store=None if store is None else Path(store),
        settings=_settings(profile, {} if config is None else config),
    )


def queues_of(topic: str, queues: int) -> int:
    """The number of queues of a topic. Raises OptionError."""
    if not 1 <= _whole("queues", queues) <= _MOST_QUEUES:
        raise OptionError(f"queues={queues} of topic {topic!r}: expected a number from 1 to {_MOST_QUEUES}")
    return queues


def _whole(name: str, number: object) -> int:
    if not isinstance(number, int) or isinstance(number, bool):
        raise OptionError(f"{name}={number!r}: expected a whole number")
    return number


def _names(option: str, names: Iterable[str]) -> list[str]:
    if isinstance(names, str):
        raise OptionError(f"{option}={names!r}: expected several names, such as [{names!r}]")
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            raise OptionError(f"{option}: expected names, got {name!r}")
    return found


def _settings(profile: str, config: Mapping[str, str | int | bool]) -> BrokerConfig:
    known = {field.encode_name for field in BrokerConfig.settings()} | TLS_KEYS
    for key in config:
        if key in _OURS:
            raise OptionError(f"config: {key!r} cannot be set: {_OURS[key]}")
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise OptionError(
                f"config: the reference Broker has no setting {key!r}{hint} Settings have Apache's names, "
                "as in broker.conf"
            )
    try:
        return msgspec.structs.replace(
            BrokerConfig.of({key: shown(value) for key, value in config.items()}, profile), listen_port=0
        )
    except ConfigError as error:
        raise OptionError(f"config: {error}") from None
