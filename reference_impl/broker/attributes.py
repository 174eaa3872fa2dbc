"""Attributes of topics, as an administrator changes them (5.x): `+key=value,-key`.

Source: AttributeParser, AttributeUtil, TopicAttributes, EnumAttribute, LongRangeAttribute of
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reference_impl.remoting.reply import RefusedError
from reference_impl.remoting.values import number

MESSAGE_TYPE: Final = "message.type"
_VALUES: Final[Mapping[str, frozenset[str] | None]] = {
    "queue.type": frozenset({"BatchCQ", "SimpleCQ"}),
    "cleanup.policy": frozenset({"DELETE", "COMPACTION"}),
    MESSAGE_TYPE: frozenset({"UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "MIXED"}),
    "reserve.time": None,
}
"""None: a number of 64 bits, -1 or more."""
_FIXED: Final = ("queue.type", "cleanup.policy")
"""What cannot be changed once a topic is there."""


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


def altered(current: Mapping[str, str] | None, changes: Mapping[str, str]) -> dict[str, str]:
    """Attributes after changes; `current` None: the topic is new. Raises RefusedError."""
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
        if key not in _VALUES:
            raise RefusedError(f"unsupported key: {key}")
        if current is not None and key in _FIXED:
            raise RefusedError(f"attempt to update an unchangeable attribute. key: {key}")
        if sign == "-":
            del found[key]
        else:
            _check(key, value)
            found[key] = value
    return found


def _check(key: str, value: str) -> None:
    allowed = _VALUES[key]
    if allowed is not None and value not in allowed:
        raise RefusedError(f"value is not in set: {', '.join(sorted(allowed))}")
    if allowed is None:
        found = number(value, 63)
        if found is None or found < -1:
            raise RefusedError(f"value is not in range(-1, {2**63 - 1})")
