"""KV namespaces and settings: what a server keeps.

What is in a namespace is unknown until an answer shows it, but for keys that nothing else
could have made; a prediction that ``learns`` is followed by `learnt`.

Sources: `KVConfigManager`, `DefaultRequestProcessor#putKVConfig` and its like, `#updateConfig`,
`Configuration#update`; statements ns.kv.*, ns.configuration.*.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.catalogue import Profile, messages
from harness.program.nameserver.frames import NOBODYS, ORDER
from harness.program.nameserver.steps import Configure, Kv
from harness.spec.nameserver.predictions import ANY, SOME, ConfigView, Prediction
from harness.spec.nameserver.state import ABSENT, Namespace, State
from harness.wire import ResponseCode, WireError
from harness.wire.bodies import Properties

_NUMBER = "serverCallbackExecutorThreads"
_TEXT = "productEnvName"
"""A number and a text of both lines that decide nothing while a server runs. What they are at first is not
known."""
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
SWITCHES = (
    "orderMessageEnable",
    "returnOrderTopicConfigToBroker",
    "supportActingMaster",
    "enableAllTopicList",
    "enableTopicList",
    "deleteTopicWithBrokerRegistration",
)
"""Settings that are true or false and decide answers, both lines (`NamesrvConfig`)."""
_BLACK = ("kvConfigPath", "configStorePath")
_BLACK_NEW = (*_BLACK, "rocketmqHome", "configBlackList")


@functools.cache
def defaults() -> Mapping[str, str]:
    """The values of settings that were not configured."""
    return {key.name: key.default or "" for key in messages().settings.keys}


def usual(line: Profile) -> dict[str, str]:
    """The switches of a server that was not configured."""
    return {name: defaults()[name] for name in (SWITCHES if line.has("settings-of-5") else SWITCHES[:1])}


# --- KV -----------------------------------------------------------------------------------------------------


def _with(state: State, name: str, namespace: Namespace) -> State:
    other = state.copy()
    other.kv = {**state.kv, name: namespace}
    return other


def _guesses(state: State, name: str) -> list[tuple[State, Namespace]]:
    """A namespace that may or may not exist."""
    known = state.kv.get(name, state.unnamed)
    if known.exists is not None:
        return [(state, known)]
    there = Namespace(True, known.pairs)
    gone = Namespace(False, {}, complete=True)
    return [(_with(state, name, one), one) for one in (gone, there)]


def kept(
    state: State,
    step: Kv,
    namespace: str | None,
    key: str | None,
    value: str | None,
    is_ours: Callable[[str], bool],
) -> list[tuple[State, Prediction]]:
    """100, 101, 102, 219."""
    if step.code == 100:
        return [_put(state, namespace, key, value)]
    if step.code == 102:
        return _deleted(state, namespace, key)
    if namespace is None:
        return [(state, Prediction(ResponseCode.QUERY_NOT_FOUND, ANY))]
    if step.code == 219:
        return [
            (one, _list(_ours(known, is_ours) if namespace == ORDER else known, namespace))
            for one, known in _guesses(state, namespace)
        ]
    if key is None:
        return [(state, Prediction(ResponseCode.QUERY_NOT_FOUND, ANY))]
    known = state.kv.get(namespace, state.unnamed)
    if key not in known.pairs and not known.complete and not is_ours(key):
        return [(state, Prediction(learns=True, ext=ANY, code=-1, remark=ANY))]
    value = known.pairs.get(key, ABSENT)
    if value is ABSENT:
        remark = f"No config item, Namespace: {namespace} Key: {key}"
        return [(state, Prediction(ResponseCode.QUERY_NOT_FOUND, remark))]
    return [(state, Prediction(ext={"value": value}))]


def _ours(known: Namespace, is_ours: Callable[[str], bool]) -> Namespace:
    """The pairs of the order configuration that only this run can have made: all of them are known."""
    return Namespace(
        known.exists, {key: value for key, value in known.pairs.items() if is_ours(key)}, complete=True
    )


def _list(known: Namespace, namespace: str) -> Prediction:
    if not known.exists:
        return Prediction(ResponseCode.QUERY_NOT_FOUND, f"No config item, Namespace: {namespace}")
    return Prediction(body=known, learns=not known.complete)


def _put(state: State, namespace: str | None, key: str | None, value: str | None) -> tuple[State, Prediction]:
    if namespace is None or key is None:
        return state, Prediction(1, "namespace or key is null")
    known = state.kv.get(namespace, state.unnamed)
    return _with(state, namespace, Namespace(True, {**known.pairs, key: value}, known.complete)), Prediction()


def _deleted(state: State, namespace: str | None, key: str | None) -> list[tuple[State, Prediction]]:
    if namespace is None or key is None:
        return [(state, Prediction())]
    known = state.kv.get(namespace, state.unnamed)
    if known.exists is False:
        return [(state, Prediction())]
    pairs = {**known.pairs, key: ABSENT}
    return [(_with(state, namespace, Namespace(known.exists, pairs, known.complete)), Prediction())]


def learnt(state: State, namespace: str, key: str | None, code: int, found: Any) -> State:
    """The state after an answer that revealed something new: a value (101) or a table (219)."""
    known = state.kv.get(namespace, state.unnamed)
    if key is None:
        table = found if isinstance(found, dict) else {}
        return _with(state, namespace, Namespace(True, dict(table), complete=True))
    value = found if code == ResponseCode.SUCCESS else ABSENT
    exists = True if value is not ABSENT else known.exists
    return _with(state, namespace, Namespace(exists, {**known.pairs, key: value}, known.complete))


def forgotten(state: State, namespace: str) -> State:
    """The state in which nothing is known of a namespace."""
    return _with(state, namespace, Namespace())


def order_table(
    state: State, line: Profile, is_ours: Callable[[str], bool]
) -> list[tuple[State, Namespace | None]]:
    """What the answer to a registration brings: the order configuration, or nothing."""
    if line.has("settings-of-5") and state.settings.get("returnOrderTopicConfigToBroker") == "false":
        return [(state, None)]
    return [(one, _ours(known, is_ours) if known.exists else None) for one, known in _guesses(state, ORDER)]


# --- settings -----------------------------------------------------------------------------------------------


def configured(state: State, step: Configure, line: Profile) -> tuple[State, Prediction]:
    """318."""
    if not step.lines:
        return state, Prediction()
    try:
        pairs = Properties.decode("\n".join(step.lines).encode()).pairs
    except WireError:
        return state, Prediction(1, SOME)
    is_new = line.has("settings-of-5")
    if any(key in pairs for key in (_BLACK_NEW if is_new else _BLACK)):
        return state, Prediction(ResponseCode.NO_PERMISSION, SOME)
    other = state.copy()
    known = usual(line)
    taken = {k: "true" if v.lower() == "true" else "false" for k, v in pairs.items() if k in known}
    other.settings = {**state.settings, **taken}
    number, text = pairs.get(_NUMBER), pairs.get(_TEXT)
    if number is not None and _INTEGER.fullmatch(number) and -(1 << 31) <= int(number) < 1 << 31:
        other.settings[_NUMBER] = str(int(number))
    if text is not None:
        other.settings[_TEXT] = text.rstrip() if is_new else text
    return other, Prediction()


def configuration(state: State) -> Prediction:
    """319. Settings that decide answers must be listed as they are, and what was put into others."""
    return Prediction(body=ConfigView({**state.settings, NOBODYS: None}), remark=ANY)
