"""Attributes of topics and of groups, as an administrator changes them (5.x): `+key=value,-key`.

Source: AttributeParser, AttributeUtil, TopicAttributes, SubscriptionGroupAttributes, EnumAttribute,
LongRangeAttribute, StringAttribute, BooleanAttribute of rocketmq-all-5.3.3 and rocketmq-all-5.5.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from reference_impl.remoting.profiles import Profile
from reference_impl.remoting.reply import RefusedError
from reference_impl.remoting.values import number

MESSAGE_TYPE: Final = "message.type"
LITE: Final = "LITE"
"""The message type of a parent of light topics."""
EXPIRATION: Final = "lite.topic.expiration"
"""Minutes after which a light topic goes that nothing is sent to; -1: never."""
PARENT: Final = "lite.bind.topic"
"""The parent of whose light topics a group consumes."""
MODEL: Final = "lite.sub.model"
"""Whether several clients of a group consume one light topic."""
EXCLUSIVE: Final = "Exclusive"
WILDCARD: Final = "lite.sub.wildcard"
"""Whether a group consumes all light topics of its parent."""
ANEW_WITH_ANOTHER: Final = "lite.sub.reset.offset.exclusive"
"""Whether a group begins a light topic anew that another client takes over."""
ANEW_AFTER_LEAVING: Final = "lite.sub.reset.offset.unsubscribe"
"""Whether a group begins a light topic anew from which a client was removed."""
_Values: TypeAlias = frozenset[str] | tuple[int, int] | type[bool] | None
"""Words, numbers from the first to the second, or true and false in any case; None: any text."""
Known: TypeAlias = Mapping[str, _Values]
"""What each key may be."""
_MOST: Final = 2**63 - 1
_TYPES: Final = frozenset({"UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "MIXED"})
_TOPICS: Final[Known] = {
    "queue.type": frozenset({"BatchCQ", "SimpleCQ"}),
    "cleanup.policy": frozenset({"DELETE", "COMPACTION"}),
    MESSAGE_TYPE: _TYPES,
    "reserve.time": (-1, _MOST),
}
_TOPICS_55: Final[Known] = {
    **_TOPICS,
    MESSAGE_TYPE: _TYPES | {"PRIORITY", LITE},
    EXPIRATION: (-1, 43_200),
}
_GROUPS_55: Final[Known] = {
    "priority.factor": (0, 100),
    PARENT: None,
    MODEL: frozenset({"Shared", EXCLUSIVE}),
    ANEW_WITH_ANOTHER: bool,
    ANEW_AFTER_LEAVING: bool,
    "lite.sub.client.quota": (-1, _MOST),
    "lite.sub.client.max.event.cnt": (10, _MOST),
    WILDCARD: None,
}
_FIXED: Final = ("queue.type", "cleanup.policy")
"""What cannot be changed once a topic is there."""


def of_topics(profile: Profile) -> Known:
    """The attributes of topics of a line."""
    return _TOPICS_55 if profile.v55 else _TOPICS


def of_groups(profile: Profile) -> Known:
    """The attributes of groups of a line."""
    return _GROUPS_55 if profile.v55 else {}


def parsed(text: str) -> dict[str, str]:
    """The changes that a text asks for: signed key to value. Raises RefusedError."""
    changes: dict[str, str] = {}
    for one in text.split(",") if text else ():
        key, equals, value = one.partition("=")
        if equals and "+" not in key:
            raise RefusedError(f"add/alter attribute format is wrong: {key}")
        if not equals and "-" not in key:
            raise RefusedError(f"delete attribute format is wrong: {key}")
        if key in changes:
            raise RefusedError(f"key duplication: {key}")
        changes[key] = value
    return changes


def altered(current: Mapping[str, str] | None, changes: Mapping[str, str], known: Known) -> dict[str, str]:
    """Attributes after changes; `current` None: the topic or group is new. Raises RefusedError."""
    found = dict(current or {})
    seen: set[str] = set()
    for signed, value in changes.items():
        sign, key = signed[:1], signed[1:]
        if not key or "+" in key or "-" in key:
            raise RefusedError("kv string format wrong.")
        if key in seen:
            raise RefusedError(f"alter duplication key. key: {key}")
        seen.add(key)
        if current is None and sign != "+":
            raise RefusedError(f"only add attribute is supported while creating topic. key: {key}")
        if sign == "-" and key not in found:
            raise RefusedError(f"attempt to delete a nonexistent key: {key}")
        if key not in known:
            raise RefusedError(f"unsupported key: {key}")
        if current is not None and key in _FIXED:
            raise RefusedError(f"attempt to update an unchangeable attribute. key: {key}")
        if sign == "-":
            del found[key]
        else:
            _check(known[key], value)
            found[key] = value
    return found


def _check(allowed: _Values, value: str) -> None:
    if allowed is bool and value.lower() not in ("true", "false"):
        raise RefusedError("boolean attribute format is wrong.")
    if isinstance(allowed, frozenset) and value not in allowed:
        raise RefusedError(f"value is not in set: {', '.join(sorted(allowed))}")
    if isinstance(allowed, tuple):
        found, (least, most) = number(value, 63), allowed
        if found is None or not least <= found <= most:
            raise RefusedError(f"value is not in range({least}, {most})")
