"""Questions, one by one and several at once."""

from __future__ import annotations

import msgspec

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.choices import (
    TOPICS,
    a_server,
    any_conn,
)
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import ORDER
from harness.program.steps import AnyStep

_ZONES = (None, "z1", "z2")


def asks_for_a_route(pick: Pick, state: ProgramState) -> Steps:
    """Route of a topic, in either dialect, sometimes of a zone."""
    server = a_server(pick, state)
    topics = sorted(state.expected[server].topics)
    topic = pick.one(topics) if topics and not pick.once_in(8) else pick.one(TOPICS)
    step = ns.Route(server=server, topic=topic, conn=any_conn(pick, state, server))
    if pick.once_in(16):
        return (msgspec.structs.replace(step, drop=("topic",)),)
    what = pick.below(8)
    if what == 1:
        return (msgspec.structs.replace(step, binary=True),)
    if what == 2:
        return (msgspec.structs.replace(step, announces=pick.one((393, 394, 395, 477))),)
    if what == 3 and state.has("heartbeats"):
        announces = pick.one((None, 393))
        return (msgspec.structs.replace(step, standard=pick.one((True, False)), announces=announces),)
    if what == 4 and state.has("heartbeats"):
        return (msgspec.structs.replace(step, zone_mode=pick.one(("true", "false")), zone=pick.one(_ZONES)),)
    return (step,)


def asks_for_brokers(pick: Pick, state: ProgramState) -> Steps:
    """Cluster information, member groups, topics."""
    server = a_server(pick, state)
    conn = any_conn(pick, state, server)
    choices: list[ns.AnyRequest] = [
        ns.ClusterInfo(server=server, conn=conn),
        ns.Topics(server=server, conn=conn),
    ]
    if state.has("zones"):
        brokers = [one[1] for one in state.brokers if one[0] == server] or ["b0"]
        choices.append(
            ns.MemberGroup(server=server, broker=pick.one(brokers), cluster=pick.one(("c0", "c1")))
        )
    choices += [
        ns.TopicsOfCluster(server=server, cluster=pick.one(("c0", "c1"))),
        ns.SystemTopics(server=server),
        ns.Unit(server=server, code=pick.one((311, 312, 313))),
    ]
    return (pick.one(choices),)


def asks_for_pairs(pick: Pick, state: ProgramState) -> Steps:
    """KV: get and list; the configuration; unknown names."""
    server = a_server(pick, state)
    mine = [pair for pair in state.pairs if pair[0] == server]
    what = pick.below(6)
    if what == 5:
        return (ns.Unknown(server=server, code=pick.one((999, 3, 0))),)
    if what == 4:
        return (ns.Configuration(server=server),)
    if mine and what < 2:
        _, namespace, key, topic = pick.one(mine)
        return (ns.Kv(server=server, code=101, namespace=namespace, key=key, topic=topic),)
    return (ns.Kv(server=server, code=pick.one((219, 101)), namespace=pick.one(("n0", "n1", ORDER))),)


def asks_at_once(pick: Pick, state: ProgramState) -> Steps:
    """Questions on several connections, none of them awaited before the last has been asked."""
    questions: list[AnyStep] = []
    for at in range(2 + pick.below(3)):
        (step,) = pick.one((asks_for_a_route, asks_for_brokers))(pick, state)
        questions.append(msgspec.structs.replace(step, conn=f"k9{at % 3}", awaited=False))
    questions[-1] = msgspec.structs.replace(questions[-1], awaited=True)
    return tuple(questions)
