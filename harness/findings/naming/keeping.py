"""KV pairs and settings."""

import re
from typing import Final

from harness.findings.naming.small import Small, about
from harness.program.steps import Configure, Kv, Restart

__all__ = ["RULES"]

_KV = (
    "kv-returns-what-was-put kv-lists-every-pair kv-deletes kv-missing-is-not-found "
    "kv-put-is-answered kv-delete-is-idempotent kv-survives-a-restart"
)
_SET = "update-of-settings-is-answered settings-are-shown failure-has-a-remark"
_PATHS = ("kvConfigPath", "configStorePath")
_KEPT = ("rocketmqHome", "configBlackList")
_BAD_ESCAPE = re.compile(r"\\u(?![0-9A-Fa-f]{4})")
_LOWER = frozenset(key.lower() for key in (*_PATHS, *_KEPT))
_NUMBERS = ("serverCallbackExecutorThreads",)
"""Settings of programs that are numbers."""
_PUT, _GET, _DELETE, _LIST = 100, 101, 102, 219


def _codes(small: Small) -> list[int]:
    return [one.code for one in small.all(Kv)]


def _is_plain(text: str) -> bool:
    return all(one.isascii() and (one.isalnum() or one in "_%-") for one in text)


def _is_blank_around(value: str) -> bool:
    return value != value.strip()


RULES: Final = (
    *about(
        "kv-missing-is-explained kv-put-is-answered failure-has-a-remark",
        {
            "kv.put-refusal-remark": lambda p: (
                isinstance(p.last, Kv) and p.last.code == _PUT and "value" not in p.last.drop and p.last.drop
            ),
        },
    ),
    *about(
        _KV,
        {
            "kv.put-without-value-is-not-found": lambda p: p.has(Kv, lambda one: "value" in one.drop),
            "kv.empty-strings-are-legal": lambda p: (
                _DELETE not in _codes(p) and p.has(Kv, lambda one: "" in (one.namespace, one.key, one.value))
            ),
            "kv.namespaces-are-apart": lambda p: len({one.namespace for one in p.all(Kv)}) > 1,
            "kv.deletion-survives-a-restart": lambda p: p.has(Restart) and _DELETE in _codes(p),
            "kv.survives-a-restart": lambda p: p.has(Restart),
            "kv.put-overwrites": lambda p: _codes(p) == [_PUT, _PUT, _GET],
            "kv.text-survives": lambda p: p.has(
                Kv, lambda one: one.code == _PUT and not _is_plain(one.value)
            ),
            "kv.delete-creates-nothing": lambda p: _codes(p) in ([_DELETE, _LIST], [_DELETE, _GET]),
            "kv.list-of-emptied-namespace": lambda p: (
                _codes(p) == [_PUT, _DELETE, _LIST] and len({one.key for one in p.all(Kv)[:2]}) == 1
            ),
            "kv.list-of-missing-namespace": lambda p: _codes(p) == [_LIST],
            "kv.missing-namespace-is-not-found": lambda p: _codes(p) == [_GET],
            "kv.visible-on-every-connection": lambda p: (
                len({one.conn for one in p.all(Kv)}) > 1 or _codes(p) == [_GET, _PUT, _GET]
            ),
            "kv.delete-removes": lambda p: _DELETE in _codes(p)[:-1],
        },
    ),
    *about(
        "kv-put-is-answered",
        {
            "kv.any-name-is-a-name": lambda p: p.has(
                Kv, lambda one: not (_is_plain(one.namespace) and _is_plain(one.key))
            ),
        },
    ),
    *about(
        "failure-has-a-remark",
        {"configuration.malformed-escape-remark": lambda p: any(map(_BAD_ESCAPE.search, p.lines))},
    ),
    *about(
        "settings-are-shown",
        {
            "configuration.update-changes-what-is-shown": lambda p: (
                len(p.all(Configure)) > 1 and len(p.settings) == len(p.lines)
            ),
            "configuration.what-5-does-is-listed": lambda p: not p.has(Configure),
        },
    ),
    *about(
        "settings-are-shown",
        {"configuration.refused-update-changes-nothing": lambda p: p.sets(*_PATHS, *_KEPT)},
    ),
    *about(
        _SET,
        {
            "configuration.no-body-changes-nothing": lambda p: p.has(Configure, lambda one: not one.lines),
            "configuration.malformed-escape-is-refused": lambda p: any(map(_BAD_ESCAPE.search, p.lines)),
            "configuration.spelling-does-not-help": lambda p: (
                any("\\" in key for key, _ in p.settings)
                or (p.sets(*_PATHS) and not any(line.startswith(_PATHS) for line in p.lines))
            ),
            "configuration.paths-cannot-be-changed": lambda p: p.sets(*_PATHS),
            "configuration.home-and-black-list-cannot-be-changed": lambda p: p.sets(*_KEPT),
            "configuration.case-of-a-key-counts": lambda p: any(
                key.lower() in _LOWER for key, _ in p.settings
            ),
            "configuration.remarks-and-blanks-are-skipped": lambda p: any(
                line[:1] in ("#", "!", "") for line in p.lines
            ),
            "configuration.lines-may-be-continued": lambda p: any(line.endswith("\\") for line in p.lines),
            "configuration.escapes-are-resolved": lambda p: any("\\" in line for line in p.lines),
            "configuration.separator-may-be-a-colon-or-a-blank": lambda p: any(
                "=" not in line and (":" in line or " " in line) for line in p.lines
            ),
            "configuration.later-pair-counts": lambda p: (
                len({key for key, _ in p.settings}) < len(p.settings)
            ),
            "configuration.bytes-are-iso-8859-1": lambda p: not "".join(p.lines).isascii(),
            "configuration.boolean-is-true-in-any-case": lambda p: any(
                value.lower() == "true" != value for _, value in p.settings
            ),
            "configuration.blank-after-true-makes-it-false": lambda p: any(
                value.strip() == "true" and _is_blank_around(value) for _, value in p.settings
            ),
            "configuration.blank-after-a-number-makes-it-bad": lambda p: any(
                value.strip().isdigit() and _is_blank_around(value) for _, value in p.settings
            ),
            "configuration.signed-number-is-a-number": lambda p: any(
                value[:1] in ("+", "-") and value[1:].isdigit() for _, value in p.settings
            ),
            "configuration.bad-number-changes-nothing": lambda p: any(
                key in _NUMBERS and not value.isdigit() for key, value in p.settings
            ),
            "configuration.text-is-trimmed": lambda p: any(
                _is_blank_around(value) for _, value in p.settings
            ),
            "configuration.text-is-not-trimmed": lambda p: any(
                _is_blank_around(value) for _, value in p.settings
            ),
        },
    ),
)
