"""Files with accounts: `conf/plain_acl.yml` and those below `conf/acl`, as Apache's Brokers read them.

1. What a file says of rights that cannot be read is no right at all; anything else that cannot be read
   is an error of the file, which then counts for nothing.
2. An account without rights of its own has the default; without a default it has none.

Source: PlainPermissionManager#load, #buildPlainAccessResource, Permission#parsePermFromString of
rocketmq-all-4.9.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import yaml

from harness.wire.bodies import DataVersion

from .addresses import Addresses

PUB: Final = "PUB"
SUB: Final = "SUB"
DENY: Final = "DENY"
_NONE: Final[frozenset[str]] = frozenset()
_RIGHTS: Final[Mapping[str, frozenset[str]]] = {
    DENY: _NONE,
    PUB: frozenset({PUB}),
    SUB: frozenset({SUB}),
    "PUB|SUB": frozenset({PUB, SUB}),
    "SUB|PUB": frozenset({PUB, SUB}),
}
_SHORTEST: Final = 7


class AclError(ValueError):
    """A file, or a part of a request, that says nothing that can be used."""


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """Who has an access key, and what they may do."""

    access_key: str
    secret_key: str
    admin: bool = False
    white: Addresses
    """Where requests come from that need no signature and no rights."""
    default_topic: frozenset[str] = _NONE
    default_group: frozenset[str] = _NONE
    topics: dict[str, frozenset[str]] = {}
    groups: dict[str, frozenset[str]] = {}


class AclFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says."""

    data: bytes
    """The file as it is."""
    accounts: tuple[Account, ...]
    white: tuple[Addresses, ...]
    """Where requests come from that need no access key."""
    version: DataVersion


def parsed(name: str, data: bytes) -> dict[str, Any]:
    """The mapping that is in a file; empty for an empty one. Raises AclError."""
    try:
        found = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise AclError(f"{name}: no YAML: {' '.join(str(error).split())}") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise AclError(f"{name}: expected the keys accounts and globalWhiteRemoteAddresses")
    return found


def read(name: str, data: bytes, now: int) -> AclFile:
    """A file; `now` is its time where it says none. Raises AclError."""
    found = parsed(name, data)
    try:
        listed = found.get("globalWhiteRemoteAddresses") or []
        return AclFile(
            data=data,
            accounts=tuple(account(one) for one in found.get("accounts") or []),
            white=tuple(Addresses(_text(one, "globalWhiteRemoteAddresses") or "") for one in listed),
            version=version_of(found, now),
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise AclError(f"{name}: {error}") from error


def version_of(found: Mapping[str, Any], now: int) -> DataVersion:
    """The version of a file. Raises ValueError."""
    for one in found.get("dataVersion") or []:
        return DataVersion(int(one["counter"]), int(one["timestamp"]), None)
    return DataVersion(0, now, None)


def account(said: Mapping[str, Any]) -> Account:
    """One of `accounts`. Raises ValueError."""
    access, secret = _text(said.get("accessKey"), "accessKey"), _text(said.get("secretKey"), "secretKey")
    check_keys(access, secret)
    return Account(
        access_key=access or "",
        secret_key=secret or "",
        admin=said.get("admin") in (True, "true"),
        white=Addresses(_text(said.get("whiteRemoteAddress"), "whiteRemoteAddress") or ""),
        default_topic=rights(_text(said.get("defaultTopicPerm"), "defaultTopicPerm")),
        default_group=rights(_text(said.get("defaultGroupPerm"), "defaultGroupPerm")),
        topics=_named("topic", said.get("topicPerms")),
        groups=_named("group", said.get("groupPerms")),
    )


def check_keys(access: str | None, secret: str | None) -> None:
    """Raises AclError for keys that are too short."""
    if len(access or "") < _SHORTEST or len(secret or "") < _SHORTEST:
        raise AclError(
            f"The accessKey={access} and secretKey={secret} cannot be null and length should longer than 6"
        )


def check_rights(several: list[str]) -> None:
    """Raises AclError for rights that cannot be read."""
    for one in several:
        words = _words(one)
        if len(words) != 2 or words[1] not in _RIGHTS:
            raise AclError(f"{one}: expected NAME=RIGHT, where RIGHT is one of {', '.join(_RIGHTS)}")


def rights(word: str | None) -> frozenset[str]:
    """What a word allows; nothing, where it is another."""
    return _RIGHTS.get((word or DENY).strip(), _NONE)


def _named(kind: str, listed: list[str] | None) -> dict[str, frozenset[str]]:
    found = {}
    for one in listed or []:
        words = _words(one)
        if len(words) != 2:
            raise AclError(f"Parse resource permission failed for {kind}:{one}")
        found[words[0]] = rights(words[1])
    return found


def _words(one: str) -> list[str]:
    """The parts of `NAME=RIGHT`; empty ones do not count."""
    return [word.strip() for word in one.split("=") if word]


def _text(value: object, name: str) -> str | None:
    """A key of digits alone is a number in YAML."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise AclError(f"{name}: expected a text, got {value!r}")
