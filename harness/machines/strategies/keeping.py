"""What a server keeps besides its brokers: permissions, topics, pairs, settings."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.machines.picture import Picture, usual
from harness.machines.strategies.choices import (
    BROKERS,
    FLAGS,
    TOPICS,
    a_lease,
    a_server,
)
from harness.machines.strategies.pick import Pick, Steps
from harness.program.frames import ORDER
from harness.program.steps import (
    AnyStep,
    Configure,
    DeleteTopic,
    Kv,
    Permission,
    RegisterTopic,
    Route,
)

__all__ = [
    "configures",
    "deletes_a_topic",
    "keeps_pairs",
    "orders_a_topic",
    "permits",
    "registers_a_topic",
]

_TOGGLES_BOTH = ("orderMessageEnable",)
_TOGGLES_FIVE = (
    "supportActingMaster",
    "deleteTopicWithBrokerRegistration",
    "returnOrderTopicConfigToBroker",
    "enableAllTopicList",
    "enableTopicList",
    "orderMessageEnable",
)
_WIPE_AND_ADD: tuple[Literal[205, 327], ...] = (205, 327, 205)


def permits(pick: Pick, picture: Picture) -> Steps:
    """Write permission is wiped or added."""
    found = a_lease(pick, picture)
    code = pick.one(_WIPE_AND_ADD)
    if found is None or pick.once_in(8):
        return (Permission(server=a_server(pick, picture), broker=pick.one(BROKERS), code=code),)
    server, lease = found
    return (Permission(server=server, broker=lease.broker, code=code),)


def deletes_a_topic(pick: Pick, picture: Picture) -> Steps:
    """A topic is deleted, in all clusters or in one."""
    server = a_server(pick, picture)
    topics = sorted(picture.models[server].topics)
    topic = pick.one(topics) if topics and not pick.once_in(6) else pick.one(TOPICS)
    return (DeleteTopic(server=server, topic=topic, cluster=pick.one((None, "c0", "c1"))),)


def registers_a_topic(pick: Pick, picture: Picture) -> Steps:
    """A topic is registered without a broker (5.x)."""
    server = a_server(pick, picture)
    model = picture.models[server]
    known = sorted(model.names)
    brokers = [pick.one(known)] if known and not pick.once_in(5) else [pick.one(BROKERS)]
    if len(known) > 1 and pick.once_in(3):
        brokers = known
    topics = sorted(model.topics)
    topic = pick.one(topics) if topics and pick.below(2) else pick.one(TOPICS)
    queues = {} if pick.once_in(6) else {broker: (16, 16, 6, FLAGS.get(topic, 0)) for broker in brokers}
    return (RegisterTopic(server=server, topic=topic, queues=queues),)


def keeps_pairs(pick: Pick, picture: Picture) -> Steps:
    """KV: put, overwrite, delete."""
    server = a_server(pick, picture)
    namespace = pick.one(("n0", "n0", "n1"))
    key = pick.one(("x", "x", "y", 'é"/'))
    value = pick.one(("v", "w", "V w ", 'é"/\\'))
    mine = [pair for pair in picture.pairs if pair[0] == server]
    put = Kv(server=server, code=100, namespace=namespace, key=key, value=value)
    what = pick.below(6)
    if mine and what in (1, 2):
        _, namespace, key, topic = pick.one(mine)
        there = Kv(server=server, namespace=namespace, key=key, topic=topic)
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
        return (Kv(server=server, code=102, namespace=pick.one(("n0", "n2")), key=pick.one(("z", "x"))),)
    return (put,)


def orders_a_topic(pick: Pick, picture: Picture) -> Steps:
    """A topic has a configuration of order, and is asked for by who may see it."""
    server = a_server(pick, picture)
    model = picture.models[server]
    topics = sorted(model.topics)
    topic = pick.one(topics) if topics else "T0"
    steps: list[AnyStep] = [
        Kv(server=server, code=100, namespace=ORDER, topic=topic, value=pick.one(("b0:4;b1:8", "b0:8")))
    ]
    if model.settings.get("orderMessageEnable") != "true":
        steps.append(Configure(server=server, lines=("orderMessageEnable=true",)))
    steps.append(Route(server=server, topic=topic))
    return tuple(steps)


def configures(pick: Pick, picture: Picture) -> Steps:
    """A toggle is turned, sometimes beside a line that means nothing."""
    server = a_server(pick, picture)
    setting = pick.one(_TOGGLES_FIVE if picture.five else _TOGGLES_BOTH)
    held = picture.models[server].settings.get(setting, usual(setting))
    lines: tuple[str, ...] = (f"{setting}={'false' if held == 'true' else 'true'}",)
    if pick.once_in(5):
        lines = (*lines, "nobodyKnowsThis=7")
    return (Configure(server=server, lines=lines),)
