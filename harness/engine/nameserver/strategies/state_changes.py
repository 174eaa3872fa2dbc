"""What a server keeps besides its brokers: permissions, topics, pairs, settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.choices import (
    BROKERS,
    FLAGS,
    TOPICS,
    a_lease,
    a_server,
)
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.engine.nameserver.strategies.registering import registers_again
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import NOBODYS, ORDER
from harness.program.steps import AnyStep

_TOGGLES_BOTH = ("orderMessageEnable",)
_TOGGLES_FIVE = (
    "supportActingMaster",
    "deleteTopicWithBrokerRegistration",
    "returnOrderTopicConfigToBroker",
    "enableAllTopicList",
    "enableTopicList",
    "orderMessageEnable",
)
_NUMBER = "serverCallbackExecutorThreads"
_TEXT = "productEnvName"
_TRUTH = ("true", "false")
_VALUES = {_NUMBER: ("12", "3"), _TEXT: ("center", "other")}
_REFUSED = ("kvConfigPath", "configStorePath")
_REFUSED_FIVE = (*_REFUSED, "rocketmqHome", "configBlackList")
_NOBODY = "b9"
"""A broker name that never registers."""
_WIPE_AND_ADD: tuple[Literal[205, 327], ...] = (205, 327, 205)


def permits(pick: Pick, state: ProgramState) -> Steps:
    """Write permission is wiped or added."""
    found = a_lease(pick, state)
    code = pick.one(_WIPE_AND_ADD)
    if found is None or pick.once_in(8):
        drop = pick.one(((), ("brokerName",)))
        return (ns.Permission(server=a_server(pick, state), broker=pick.one(BROKERS), code=code, drop=drop),)
    server, lease = found
    return (ns.Permission(server=server, broker=lease.broker, code=code),)


def deletes_a_topic(pick: Pick, state: ProgramState) -> Steps:
    """A topic is deleted, in all clusters or in one."""
    server = a_server(pick, state)
    topics = sorted(state.expected[server].topics)
    topic = pick.one(topics) if topics and not pick.once_in(6) else pick.one(TOPICS)
    if pick.once_in(8):
        return (ns.DeleteTopic(server=server, topic=topic, drop=("topic",)),)
    return (ns.DeleteTopic(server=server, topic=topic, cluster=pick.one((None, "c0", "c1", "c9", ""))),)


def registers_a_topic(pick: Pick, state: ProgramState) -> Steps:
    """A topic is registered without a broker (5.x)."""
    server = a_server(pick, state)
    expected = state.expected[server]
    known = sorted(expected.brokers)
    brokers = [pick.one(known)] if known and not pick.once_in(5) else [pick.one(BROKERS)]
    if len(known) > 1 and pick.once_in(3):
        brokers = known
    topics = sorted(expected.topics)
    topic = pick.one(topics) if topics and pick.below(2) else pick.one(TOPICS)
    if pick.once_in(5):
        brokers = [*brokers, pick.one([one for one in (*BROKERS, _NOBODY) if one not in brokers])]
        if pick.below(2):
            brokers.reverse()
    queues = {} if pick.once_in(6) else {broker: (16, 12, 6, FLAGS.get(topic, 0)) for broker in brokers}
    step = ns.RegisterTopic(server=server, topic=topic, queues=queues)
    if pick.once_in(6):
        forms: tuple[Literal["none", "garbage"], ...] = ("none", "garbage")
        return (msgspec.structs.replace(step, form=pick.one(forms)),)
    return (msgspec.structs.replace(step, drop=("topic",)) if pick.once_in(12) else step,)


def keeps_pairs(pick: Pick, state: ProgramState) -> Steps:
    """KV: put, overwrite, delete."""
    server = a_server(pick, state)
    namespace = pick.one(("n0", "n0", "n1"))
    key = pick.one(("x", "x", "y", 'é"/ ', ""))
    value = pick.one(("v", "w", "V w ", 'é"/\\', "", "a \n b"))
    mine = [pair for pair in state.pairs if pair[0] == server]
    put = ns.Kv(server=server, code=100, namespace=namespace, key=key, value=value)
    what = pick.below(7)
    if mine and what in (1, 2):
        _, namespace, key, topic = pick.one(mine)
        there = ns.Kv(server=server, namespace=namespace, key=key, topic=topic)
        if what == 1:
            return (msgspec.structs.replace(there, code=102),)
        again = msgspec.structs.replace(there, code=100, value=value)
        return (again, there)
    if what == 3:
        return (put, msgspec.structs.replace(put, code=102), msgspec.structs.replace(put, code=101))
    if what == 4:
        other = msgspec.structs.replace(put, key="z", value="other")
        return (put, other, msgspec.structs.replace(put, code=219))
    if what == 5:
        gone = ns.Kv(server=server, code=102, namespace=pick.one(("n0", "n2")), key=pick.one(("z", "x")))
        return (gone, msgspec.structs.replace(gone, code=219))
    if what == 6:
        dropped = msgspec.structs.replace(put, drop=(pick.one(("key", "namespace", "value")),))
        return (dropped, msgspec.structs.replace(put, code=pick.one((101, 219))))
    return (put,)


def orders_a_topic(pick: Pick, state: ProgramState) -> Steps:
    """A topic has a configuration of order, and is asked for by who may see it, before that may be too."""
    server = a_server(pick, state)
    expected = state.expected[server]
    topics = sorted(expected.topics)
    topic = pick.one(topics) if topics else "T0"
    steps: list[AnyStep] = [
        ns.Kv(
            server=server,
            code=100,
            namespace=pick.one((ORDER, ORDER, ORDER, "n0")),
            topic=topic,
            value=pick.one(("b0:4;b1:8", "b0:8")),
        )
    ]
    route = ns.Route(server=server, topic=topic, announces=pick.one((None, 393, 395, None)))
    if pick.below(2):
        steps.append(route)
    is_on = expected.settings.get("orderMessageEnable") == "true"
    if not is_on or pick.once_in(4):
        steps.append(ns.Configure(server=server, lines=(f"orderMessageEnable={str(not is_on).lower()}",)))
    steps.append(route)
    if state.has("settings-of-5") and pick.once_in(4):
        steps.append(ns.Configure(server=server, lines=("returnOrderTopicConfigToBroker=false",)))
        steps += registers_again(pick, state)
    return tuple(steps)


def configures(pick: Pick, state: ProgramState) -> Steps:
    """A toggle is turned, sometimes beside lines that mean nothing or that are to be refused."""
    server = a_server(pick, state)
    setting = pick.one(_TOGGLES_FIVE if state.has("settings-of-5") else _TOGGLES_BOTH)
    held = state.expected[server].settings[setting]
    turned = f"{setting}={'false' if held == 'true' else 'true'}"
    what = pick.below(6)
    if what == 1:
        return (ns.Configure(server=server, lines=(turned, f"{NOBODYS}=7")), ns.Configuration(server=server))
    if what == 2:
        refused = pick.one(_REFUSED_FIVE if state.has("settings-of-5") else _REFUSED)
        odd = pick.one((f"{refused}=x", f"{refused}=", f" {refused} : x", refused, f"{refused.upper()}=x"))
        lines = pick.one(((turned, odd), (odd, turned)))
        return (ns.Configure(server=server, lines=lines), ns.Configuration(server=server))
    return (ns.Configure(server=server, lines=(turned,)),)


def writes_settings(pick: Pick, state: ProgramState) -> Steps:
    """Settings are written in all the ways in which a properties file may write them, and looked at."""
    server = a_server(pick, state)
    setting = pick.one(_TOGGLES_FIVE if state.has("settings-of-5") else _TOGGLES_BOTH)
    key = pick.one((setting, _NUMBER, _TEXT))
    before = f"{key}={pick.one(_VALUES.get(key, _TRUTH))}"
    values: Sequence[str]
    if key == _NUMBER:
        values = ("+12", "-1", "007", "abc", "", "7.0", "2147483648", "1 2", "7 ")
    elif key == _TEXT:
        values = ("b\\c", "\\u0041x", "a \\", "x=y:z", "", "two words  ", "é")
    else:
        values = ("true", "TRUE", "True", "yes", "1", "fal\\se", "\\u0074rue", "tr\\", "t\\u00", "", "true ")
    value = pick.one(values)
    separator = pick.one(("=", " = ", ":", " "))
    line = f"{pick.one(('', '  ', '#', '!', '# '))}{key}{separator}{value}"
    lines = [line]
    if value.endswith("\\"):
        lines.append(f"{pick.one(('', '   '))}ue")
    more = pick.below(4)
    if more == 1:
        lines.append(f"{key}={pick.one(_VALUES.get(key, _TRUTH))}")
    elif more == 2:
        lines.insert(0, f"{setting}=true")
    elif more == 3:
        lines = []
    return (
        ns.Configure(server=server, lines=(before,)),
        ns.Configure(server=server, lines=tuple(lines)),
        ns.Configuration(server=server),
    )
