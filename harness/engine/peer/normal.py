"""When two answers are the same: named rules, each with its reason, and what is left after them.

- Answers that are equal but for their opaque are the same; all others are compared in their normal form.
- A rule takes away what no client may rely on, and nothing else. There is no rule without a name, and none
  that is not in `RULES`, which the documentation is made of.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from harness.engine.peer.differences import Normal
from harness.program.names import MADE_NAME, Names
from harness.program.nameserver import steps as ns
from harness.program.steps import AnyStep
from harness.spec import Answered, Ended, Garbled
from harness.spec.observation import Outcome
from harness.wire import Command, ResponseCode
from harness.wire.comparing import HOST_SETTINGS
from harness.wire.fastjson import ParseError
from harness.wire.view import json_value, view

Compare = Literal["meaning", "exact"]
"""What is compared: what the answers mean to a client, or every field as it is written."""


class Rule(msgspec.Struct, frozen=True):
    """One way in which answers that differ are the same."""

    name: str
    what: str
    why: str
    apply: Callable[[Normal, AnyStep, Names], None]
    meaning_only: bool = False
    """Where exact forms are compared, it does not hold."""


# --- the rules ----------------------------------------------------------------------------------------------

_OWN_REMARKS = frozenset(
    {
        "crc32 not match",
        "register broker failed",
        "namespace or key is null",
        "name server not ready",
        "disable",
        "string2Properties error",
        "not set any response code",
        None,
    }
)
"""What a NameServer says in its own words with code 1."""

_MADE = re.compile(MADE_NAME)
_HOST_SETTINGS = re.compile(HOST_SETTINGS)


def _version(answer: Normal, step: AnyStep, names: Names) -> None:
    answer.pop("version", None)


def _exception(answer: Normal, step: AnyStep, names: Names) -> None:
    if answer.get("code") == ResponseCode.SYSTEM_ERROR and answer["remark"] not in _OWN_REMARKS:
        answer["remark"] = "(an error in words of the implementation)"


def _writing(answer: Normal, step: AnyStep, names: Names) -> None:
    for field in ("remark", "flag", "language", "serialization", "dialect"):
        answer.pop(field, None)


def _null_members(answer: Normal, step: AnyStep, names: Names) -> None:
    answer["body"] = _without_nulls(answer.get("body"))
    if isinstance(ext := answer.get("ext"), dict):
        answer["ext"] = {name: value for name, value in ext.items() if value is not None}


def _without_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_nulls(item) for name, item in value.items() if item is not None}
        case list():
            return [_without_nulls(item) for item in value]
    return value


def _empty_ext(answer: Normal, step: AnyStep, names: Names) -> None:
    if answer.get("ext") == {}:
        answer["ext"] = None


def _order(answer: Normal, step: AnyStep, names: Names) -> None:
    body = answer.get("body")
    if not isinstance(body, dict):
        return
    match step:
        case ns.Route():
            for name in ("brokerDatas", "queueDatas"):
                if isinstance(found := body.get(name), list):
                    found.sort(key=_broker_name)
        case ns.ClusterInfo():
            if isinstance(table := body.get("clusterAddrTable"), dict):
                for members in table.values():
                    members.sort(key=str)
        case ns.Topics() | ns.TopicsOfCluster() | ns.SystemTopics() | ns.Unit():
            if isinstance(found := body.get("topicList"), list):
                found.sort(key=str)


def _broker_name(item: Any) -> str:
    return str(item.get("brokerName")) if isinstance(item, dict) else ""


def _projection(answer: Normal, step: AnyStep, names: Names) -> None:
    body = answer.get("body")
    if not isinstance(body, dict):
        return
    match step:
        case ns.ClusterInfo():
            brokers, clusters = body.get("brokerAddrTable"), body.get("clusterAddrTable")
            if isinstance(brokers, dict):
                body["brokerAddrTable"] = ours = {k: v for k, v in brokers.items() if names.is_ours(k)}
                if not ours:
                    answer.pop("dialect", None)
            if isinstance(clusters, dict):
                body["clusterAddrTable"] = {k: v for k, v in clusters.items() if names.is_ours(k)}
        case ns.Topics() | ns.SystemTopics() | ns.Unit():
            if isinstance(found := body.get("topicList"), list):
                body["topicList"] = [name for name in found if names.is_ours(str(name))]
        case ns.Register() | ns.Kv():
            if isinstance(table := body.get("table"), dict):
                body["table"] = {k: v for k, v in table.items() if not _is_of_another_run(str(k), names)}


def _is_of_another_run(name: str, names: Names) -> bool:
    return _MADE.search(name) is not None and not names.is_ours(name)


def _any_address(answer: Normal, step: AnyStep, names: Names) -> None:
    if isinstance(step, ns.SystemTopics) and isinstance(body := answer.get("body"), dict):
        body.pop("brokerAddr", None)


def _settings(answer: Normal, step: AnyStep, names: Names) -> None:
    if isinstance(step, ns.Configuration) and isinstance(body := answer.get("body"), str):
        pairs = (line.partition("=")[::2] for line in body.splitlines() if line)
        answer["body"] = {name: value for name, value in pairs if not _HOST_SETTINGS.fullmatch(name)}


RULES = (
    Rule(
        "how-it-is-written",
        "`remark`, `flag`, `language`, the way in which the header is serialized and the dialect of JSON are "
        "not compared.",
        "No client decides by them: a remark is for people, and every parser of the protocol reads both "
        "serializations and the bare numbers that fastjson writes as names.",
        _writing,
        meaning_only=True,
    ),
    Rule(
        "null-members",
        "A member of a body, or an ext field, that is null is the same as one that is not there.",
        "Apache's own writer leaves out what is null, and its clients read both as null "
        "(`RemotingSerializable`).",
        _null_members,
        meaning_only=True,
    ),
    Rule(
        "response-version",
        "`version` of a response is not compared.",
        "It says which release answers, and two releases of one line differ in nothing else "
        "(`NamesrvStartup`, system property rocketmq.remoting.version).",
        _version,
    ),
    Rule(
        "error-in-own-words",
        "Remarks with code 1 are equal unless one of them is among those that Apache writes itself "
        "(`crc32 not match`, `register broker failed`, `namespace or key is null`, `name server not ready`, "
        "`disable`, `string2Properties error`).",
        "All others are the text of a Java exception with its first stack frame "
        "(`RemotingHelper#exceptionSimpleDesc`, `UtilAll#exceptionSimpleDesc`), which depends on JDK and "
        "build.",
        _exception,
    ),
    Rule(
        "empty-ext",
        "`extFields` as an empty object is no `extFields`.",
        "Apache writes `{}` where the handler has made a header class and set nothing; the binary header "
        "cannot tell the two apart (`RemotingCommand#makeCustomHeaderToNet`).",
        _empty_ext,
    ),
    Rule(
        "own-names",
        "Of lists and tables over the whole server, and of pairs whose keys are names of topics, only the "
        "names of the running round are compared.",
        "Names are never used twice, so that what an earlier round left behind, or another user of a shared "
        "server, is not held against this one.",
        _projection,
    ),
    Rule(
        "collection-order",
        "Broker data, queue data, broker names of a cluster and topics of a list have no order; members of "
        "objects and ext fields have none either.",
        "Apache takes them from hash tables (`RouteInfoManager`).",
        _order,
    ),
    Rule(
        "any-broker-address",
        "`brokerAddr` of the system topic list (304) is not compared.",
        "It is an address of whichever broker comes first in a hash table "
        "(`RouteInfoManager#getSystemTopicList`).",
        _any_address,
    ),
    Rule(
        "settings-of-the-machine",
        "Of the configuration (319) only settings that decide answers are compared: no paths, ports, "
        "threads, buffers and queues.",
        "The others say how and where a server runs (`NamesrvConfig`, `NettyServerConfig`).",
        _settings,
    ),
)

# --- the normal form ----------------------------------------------------------------------------------------

_TEXT = (ns.Configuration,)
_WRITTEN_IN_A_DIALECT = (ns.Route, ns.ClusterInfo, ns.MemberGroup)


def normal(outcome: Outcome, step: AnyStep, names: Names, compare: Compare = "meaning") -> Normal:
    """What came of a request, in the form in which it is compared."""
    match outcome:
        case Answered():
            answer = _said(outcome.command, step)
        case Ended():
            return {"outcome": "closed"}
        case Garbled():
            return {"outcome": "garbled"}
        case _:
            return {"outcome": "silence"}
    for rule in _RULES[compare]:
        rule.apply(answer, step, names)
    return answer


_RULES: dict[Compare, tuple[Rule, ...]] = {
    "meaning": tuple(rule for rule in RULES if rule.name != "error-in-own-words"),
    "exact": tuple(rule for rule in RULES if not rule.meaning_only),
}


def _said(command: Command, step: AnyStep) -> Normal:
    answer: Normal = {
        "outcome": "answer",
        "code": int(command.code),
        "remark": command.remark,
        "ext": command.ext,
        "flag": command.flag,
        "language": command.language,
        "version": command.version,
        "serialization": int(command.serialization),
        "body": _body(command.body, step),
    }
    if isinstance(step, _WRITTEN_IN_A_DIALECT):
        answer["dialect"] = ", ".join(view(command, None).dialect) or "plain"
    return answer


def _body(body: bytes, step: AnyStep) -> Any:
    if not body:
        return None
    if not isinstance(step, _TEXT):
        try:
            return json_value(body)
        except (ParseError, ValueError):
            pass
    return body.decode("utf-8", "replace")
