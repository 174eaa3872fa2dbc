"""The unusual forms of the members of a JSON body: absent, null, twice, of another type, and so on.

A member is named by its path: ``body.dataVersion.counter``. A list, and a map from names of the case to
something, is represented by its first element: ``body.mqSet.0.topic``, ``body.topicConfigTable.*.perm``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

BODY: Final = "body"
"""The path of the whole body, with which every other begins."""


class _Object(list[tuple[str, Any]]):
    """A JSON object, member by member, as it is written; a plain list is a JSON list."""


_OF_ALL: Final[Mapping[str, object]] = {"null": None, "empty list": [], "empty object": _Object()}
_OF_TEXT: Final[Mapping[str, object]] = {"empty": "", "blank": " ", "a number": 7, "true": True}
_OF_NUMBER: Final[Mapping[str, object]] = {
    "empty text": "",
    "x": "x",
    "true": True,
    "1.5": 1.5,
    "-1": -1,
    "2147483647": 2**31 - 1,
    "2147483648": 2**31,
    "9223372036854775807": 2**63 - 1,
    "9223372036854775808": 2**63,
}
_OF_BOOLEAN: Final[Mapping[str, object]] = {
    "text of true": "true",
    "x": "x",
    "1": 1,
    "7": 7,
    "empty text": "",
}
_OF_TABLE: Final[Mapping[str, object]] = {"text": "x", "empty text": "", "a number": 7, "true": True}


def body_forms(body: bytes, nonce: str) -> Iterator[tuple[str, str, bytes]]:
    """Each member of a body in each of its forms: its path, the form and the body.

    Nothing comes of a body that is no JSON object. Keys that hold the nonce are names, not members.
    """
    try:
        whole = json.loads(body, object_pairs_hook=_Object)
    except ValueError:
        return
    if isinstance(whole, _Object):
        for path, form, changed in _forms(whole, BODY, nonce):
            yield path, form, _text(changed).encode()


def _forms(value: Any, path: str, nonce: str) -> Iterator[tuple[str, str, Any]]:
    """Every form of what lies below a value, and the value with it in place."""
    if isinstance(value, _Object):
        if _is_map(value, nonce):
            name, inner = value[0]
            for below, form, changed in _forms(inner, f"{path}.*", nonce):
                yield below, form, _Object([(name, changed), *value[1:]])
            return
        yield path, "with an unknown member", _Object([*value, ("unknownMember", _Object([("x", [1])]))])
        for at, (name, inner) in enumerate(value):
            before, after = value[:at], value[at + 1 :]
            for form, members in _of_member(name, inner):
                yield f"{path}.{name}", form, _Object([*before, *members, *after])
            for below, form, changed in _forms(inner, f"{path}.{name}", nonce):
                yield below, form, _Object([*before, (name, changed), *after])
    elif isinstance(value, list) and value:
        for below, form, changed in _forms(value[0], f"{path}.0", nonce):
            yield below, form, [changed, *value[1:]]


def _is_map(value: _Object, nonce: str) -> bool:
    return bool(value) and nonce in value[0][0]


def _of_member(name: str, value: Any) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    yield "absent", []
    yield "in other letters", [(name.upper(), value)]
    yield "again as null", [(name, value), (name, None)]
    yield "null and again", [(name, None), (name, value)]
    for form, other in _others(value).items():
        if other != value or type(other) is not type(value):
            yield form, [(name, other)]


def _others(value: Any) -> Mapping[str, object]:
    """Values that are not those of an ordinary request."""
    if isinstance(value, bool):
        kind = {**_OF_BOOLEAN, "the other": not value}
    elif isinstance(value, int):
        kind = {**_OF_NUMBER, "its text": str(value)}
    elif isinstance(value, str):
        kind = dict(_OF_TEXT)
    elif value is None:
        kind = {"a number": 7, "text": "x"}
    else:
        kind = dict(_OF_TABLE)
    return {**_OF_ALL, **kind}


def _text(value: Any) -> str:
    if isinstance(value, _Object):
        return "{" + ",".join(f"{json.dumps(name)}:{_text(inner)}" for name, inner in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    return json.dumps(value)
