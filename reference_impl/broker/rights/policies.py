"""What a user has been given: policies, each with entries, and how the text of an entry is read.

1. A resource is `*`, or `Topic:`, `Group:` or another kind with a name, the beginning of names (`Topic:T*`),
   or `*`. Kinds, actions and decisions are read in any case, and kept as `read` gives them.
2. There are two kinds of policies. What a `Default` one says counts where no entry of a `Custom` one fits.

Source: AclConverter, Resource, PolicyEntry, IPAddressUtils, AuthorizationMetadataManagerImpl#validate
of rocketmq-all-5.3.3.
"""

from __future__ import annotations

import ipaddress
from typing import Any, Final

import msgspec

from reference_impl.remoting.reply import RefusedError

ALLOW: Final = "Allow"
DENY: Final = "Deny"
CUSTOM: Final = "Custom"
DEFAULT: Final = "Default"
EVERYTHING: Final = "*"
_ALL: Final = "All"
_ANY: Final = "Any"


KINDS: Final = {name.lower(): name for name in ("Unknown", _ANY, "Cluster", "Namespace", "Topic", "Group")}
ACTIONS: Final = {
    name.lower(): name
    for name in ("Unknown", _ALL, _ANY, "Pub", "Sub", "Create", "Update", "Delete", "Get", "List")
}
DECISIONS: Final = {name.lower(): name for name in (ALLOW, DENY)}
POLICIES: Final = {name.lower(): name for name in (CUSTOM, DEFAULT)}


class FaultError(ValueError):
    """Rights that cannot be given; the message is what Apache's Broker says."""


class Entry(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What may be done, or may not. The members are in the order in which they are shown."""

    actions: list[str]
    decision: str
    resource: str
    source_ips: list[str] = []

    def fits(self, actions: tuple[str, ...], address: str) -> bool:
        """Whether it is about one of these actions, from this address."""
        is_asked = _ALL in self.actions or any(one in self.actions for one in actions)
        return is_asked and (not self.source_ips or any(_includes(one, address) for one in self.source_ips))


class Policy(msgspec.Struct, rename="camel", kw_only=True):
    """Entries of one kind."""

    entries: list[Entry]
    policy_type: str = CUSTOM


class Acl(msgspec.Struct):
    """All that a user has been given."""

    policies: list[Policy]
    subject: str
    """`User:` and its name."""


def read(said: list[Any]) -> list[Policy]:
    """The policies of a request; those without entries are none. Raises FaultError and RefusedError."""
    found = [
        Policy(
            entries=[_entry(one) for one in _listed(policy, "entries")],
            policy_type=POLICIES.get(_text(policy, "policyType").lower(), CUSTOM),
        )
        for policy in said
        if _listed(policy, "entries")
    ]
    if not found:
        raise FaultError("The policies is empty.")
    return found


def resource_of(text: str) -> str | None:
    """A resource as it is kept; None: there is no such kind."""
    kind, _, name = text.partition(":")
    known = KINDS.get(kind.lower())
    if text == EVERYTHING or known == _ANY:
        return EVERYTHING
    if known is None:
        return None
    return f"{known}:{name[: name.index('*') + 1] if name.endswith('*') else name}"


def closeness(resource: str, asked: str) -> int:
    """How closely a resource of an entry says what is asked for; 0: it does not."""
    if resource == asked:
        return len(asked) + 2
    begins = resource.endswith("*") and asked.startswith(resource[:-1])
    return len(resource) if begins else 0


def _entry(said: Any) -> Entry:
    resource = resource_of(_text(said, "resource"))
    if resource is None:
        raise FaultError("The resource is null.")
    if not isinstance(said.get("actions"), list):
        raise RefusedError("the actions are null")
    actions = [ACTIONS[one.lower()] for one in map(str, said["actions"]) if one.lower() in ACTIONS]
    if not actions:
        raise FaultError("The actions is empty.")
    if _ANY in actions:
        raise FaultError("The actions can not be Any.")
    addresses = [str(one) for one in _listed(said, "sourceIps")]
    for address in addresses:
        _check(address)
    decision = DECISIONS.get(_text(said, "decision").lower())
    if decision is None:
        raise FaultError("The decision is null or illegal.")
    return Entry(actions=actions, decision=decision, resource=resource, source_ips=addresses)


def _check(address: str) -> None:
    if not address.strip():
        raise FaultError("The source ip is empty.")
    try:
        ipaddress.ip_interface(address)
    except ValueError as error:
        raise FaultError("The source ip is invalid.") from error


def _includes(one: str, address: str) -> bool:
    """Addresses of a network are compared as numbers; so an IPv4 one is in `::/0`."""
    if "/" not in one:
        return one == address
    network = ipaddress.ip_network(one, strict=False)
    return int(network[0]) <= int(ipaddress.ip_address(address)) <= int(network[-1])


def _text(said: Any, name: str) -> str:
    value = said.get(name) if isinstance(said, dict) else None
    return value if isinstance(value, str) else ""


def _listed(said: Any, name: str) -> list[Any]:
    value = said.get(name) if isinstance(said, dict) else None
    return value if isinstance(value, list) else []
