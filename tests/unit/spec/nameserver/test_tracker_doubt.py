"""Right servers that the model once accused: what is open must be open, or not judged.

Programs are JSON lines, as in the folder of a finding. What makes them hard is when something is carried out:
where it takes a running clock to see it, observations are moved or altered.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from harness.engine.oracle import Oracle
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver.steps import DeleteTopic
from harness.program.steps import decode_step
from harness.spec import Answered, Ended, Garbled, Observation, StateTracker
from harness.targets import parse
from harness.wire.bodies import KvTable

from .playing import observed, violations_of

NAMES = Names(chance("doubt"))

LATE_CLUSTER = """
{"do":"register","broker":"b1","address":"a12"}
{"do":"register","broker":"b1","address":"a10"}
{"do":"time","seconds":126}
{"do":"register","oneway":true,"cluster":"c1","broker":"b1","address":"a10","topics":{"U4":[4,4,6,1],"U5":[4,4,6,2]}}
{"do":"route","topic":"U4"}
"""
LATE_MANY = """
{"do":"register","broker":"b1","address":"a12","conn":"k1"}
{"do":"register","broker":"b1","address":"a10","id":1,"conn":"k2"}
{"do":"register","broker":"b1","address":"a11","id":2,"conn":"k3"}
{"do":"register","broker":"b1","address":"a13","id":3,"conn":"k4"}
{"do":"register","broker":"b1","address":"a14","id":4,"conn":"k5"}
{"do":"register","broker":"b1","address":"a15","id":5,"conn":"k6"}
{"do":"time","seconds":126}
{"do":"register","oneway":true,"cluster":"c1","broker":"b1","address":"a10","topics":{"U4":[4,4,6,1],"U5":[4,4,6,2]}}
{"do":"route","topic":"U4"}
{"do":"cluster-info"}
{"do":"topics"}
{"do":"topics-of-cluster","cluster":"c1"}
"""
MUTED_CONNECTION = """
{"do":"register","broker":"b2","address":"a20","conn":"k1","lease":1000,"topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"register","broker":"b3","address":"a30","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
"""


def program(text: str) -> list:  # type: ignore[type-arg]
    return [decode_step(line) for line in text.strip().splitlines()]


def seen_of(text: str, profile: str) -> list[Observation]:
    instance = parse(f"builtin:{profile}").start()
    try:
        return list(observed(instance, profile, NAMES, program(text)))
    finally:
        instance.stop()


def judged(seen: Sequence[Observation], profile: str = "5.3") -> StateTracker:
    knowledge = StateTracker(profile, NAMES, fresh=True)
    assert violations_of(knowledge, iter(seen)) == []
    return knowledge


@pytest.mark.parametrize("profile", ["4.9", "5.3", "5.5"])
@pytest.mark.parametrize("text", [LATE_CLUSTER, LATE_MANY])
def test_a_one_way_registration_beside_leases_that_end(text: str, profile: str) -> None:
    judged(seen_of(text, profile), profile)


def test_leases_that_end_leave_few_states() -> None:
    knowledge = judged(seen_of(LATE_CLUSTER, "5.3"))
    assert not knowledge.untracked
    assert knowledge.possible <= 8


def test_what_a_muted_name_may_yet_bring_is_muted_too() -> None:
    seen = seen_of(LATE_CLUSTER, "5.3")
    knowledge = judged(seen[:-1])
    (component,) = knowledge._components.all
    knowledge._components.untrack(component)
    assert {NAMES.name("U4"), NAMES.name("U5"), NAMES.name("c1")} <= knowledge.untracked
    assert knowledge.observe(seen[-1]) == []


def test_what_shares_a_connection_with_a_muted_name_is_muted() -> None:
    first, second = seen_of(MUTED_CONNECTION, "5.3")
    knowledge = judged([first])
    (component,) = knowledge._components.all
    knowledge._components.untrack(component)
    assert knowledge.observe(second) == []
    assert NAMES.name("b3") in knowledge.untracked
    assert NAMES.name("T1") in knowledge.untracked


def test_the_order_configuration_in_the_answer_to_a_held_registration() -> None:
    text = """
{"do":"kv","code":100,"namespace":"ORDER_TOPIC_CONFIG","topic":"T0","value":"b0:4"}
{"do":"kv","code":102,"namespace":"ORDER_TOPIC_CONFIG","topic":"T0"}
{"do":"register","conn":"k1","held":true,"broker":"b1","address":"a11"}
{"do":"topics","conn":"k1"}
{"do":"time","seconds":1}
{"do":"member-group","broker":"b1"}
"""
    seen = seen_of(text, "5.3")
    (held,) = [one for one in seen if getattr(one.step, "held", False)]
    assert isinstance(held.outcome, Answered)
    assert KvTable.decode(held.outcome.command.body).table == {}
    judged(seen)


def test_a_deletion_that_is_not_waited_for_may_come_behind_a_first_registration() -> None:
    """A pool of threads may carry out what came over another connection first."""
    text = """
{"do":"register","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"delete-topic","conn":"k2","topic":"T0"}
{"do":"route","topic":"T0"}
"""
    register, delete, route = seen_of(text, "5.3")
    assert isinstance(delete.step, DeleteTopic)
    oneway = msgspec.structs.replace(
        delete, number=0, step=msgspec.structs.replace(delete.step, oneway=True), outcome=None
    )
    judged([oneway, register, route])
    settled = msgspec.structs.replace(oneway, invoked=-9.0, returned=-9.0)
    knowledge = StateTracker("5.3", NAMES, fresh=True)
    assert violations_of(knowledge, iter([settled, register, route])) != []


@pytest.mark.parametrize(("profile", "later"), [("4.9", 10.0), ("5.3", 10.0), ("5.3", 0.09)])
def test_what_was_sent_together_may_be_carried_out_in_reverse(profile: str, later: float) -> None:
    """A pool of threads may carry out a registration behind the unregistration that came behind it."""
    text = """
{"do":"register","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"unregister","conn":"k1"}
{"do":"register","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"cluster-info"}
"""
    first, unregister, register, shown = seen_of(text, profile)
    held = msgspec.structs.replace(register.step, held=True)  # type: ignore[type-var]
    replace = msgspec.structs.replace
    judged(
        [
            replace(first, returned=0.0),
            replace(register, number=1, step=held, invoked=0.01, returned=0.08),
            replace(unregister, number=2, invoked=0.01, returned=0.06),
            replace(shown, invoked=later, returned=later),
        ],
        profile,
    )


def test_a_registration_behind_garbled_bytes_may_have_taken_effect() -> None:
    text = """
{"do":"register","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"route","topic":"T0"}
"""
    register, route = seen_of(text, "5.3")
    garbled = msgspec.structs.replace(register, outcome=Garbled("no length"))
    judge = Oracle([StateTracker("5.3", NAMES, fresh=True)])
    assert [one.invariant for one in judge.observe([garbled], [])] == ["answers-are-commands"]
    assert judge.observe([route], []) == []


def test_an_idle_connection_that_another_takes_the_place_of_stays_idle() -> None:
    text = """
{"do":"register","conn":"k22","broker":"b2","address":"a22"}
{"do":"time","idle":["k22"]}
{"do":"reconnect","conn":"k22"}
{"do":"register","broker":"b2","address":"a22"}
{"do":"time","seconds":126}
"""
    judged(seen_of(text, "5.3"))


def test_settings_that_change_before_a_registration_that_is_not_waited_for() -> None:
    text = """
{"do":"register","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"configure","oneway":true,"lines":["deleteTopicWithBrokerRegistration=true"]}
{"do":"register","conn":"k1","oneway":true,"counter":2,"topics":{"T1":[4,4,6,0],"T2":[4,4,6,0]}}
{"do":"route","topic":"T0"}
{"do":"topics"}
"""
    judged(seen_of(text, "5.3"))


def test_a_topic_for_several_names_that_is_not_waited_for() -> None:
    """Whether a name that is not known ends it depends on who serves the topic: names of other components."""
    text = """
{"do":"register","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"register","conn":"k2","broker":"b2","address":"a20","topics":{"T5":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"register-topic","conn":"k3","topic":"T5","oneway":true,"queues":{"b0":[4,4,6,0],"b1":[4,4,6,0]}}
{"do":"route","topic":"T5"}
{"do":"time","seconds":5}
{"do":"route","topic":"T5"}
{"do":"cluster-info"}
"""
    judged(seen_of(text, "5.3"))


EMPTIED = """
{"do":"register","broker":"b2","address":"a22","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"close","conn":"k1","how":"half"}
{"do":"cluster-info"}
"""


def emptied(seen: Observation) -> Observation:
    """Cluster information as it is written between two steps of a departure: a cluster without names."""
    assert isinstance(seen.outcome, Answered)
    said = {"brokerAddrTable": {}, "clusterAddrTable": {NAMES.name("c0"): []}}
    command = msgspec.structs.replace(seen.outcome.command, body=msgspec.json.encode(said))
    return msgspec.structs.replace(seen, outcome=Answered(command))


def test_a_cluster_that_is_being_emptied_is_listed_without_names() -> None:
    first, closed, asked = seen_of(EMPTIED, "5.3")
    assert judged([first, closed]).observe(emptied(asked)) == []
    later = msgspec.structs.replace(asked, invoked=asked.invoked + 60, returned=asked.returned + 60)
    (found,) = judged([first, closed]).observe(emptied(later))
    assert found.statement == "ns.cluster.lists-every-name"


ONE_OF_TWO = """
{"do":"register","broker":"b1","address":"a10","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"register","broker":"b2","address":"a20","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"close","conn":"k1"}
{"do":"route","topic":"T0"}
"""


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
@pytest.mark.parametrize("left", [0, 1])
def test_brokers_of_one_connection_may_leave_one_after_the_other(profile: str, left: int) -> None:
    *done, shown = seen_of(ONE_OF_TWO, profile)
    lines = ONE_OF_TWO.strip().splitlines()
    between = seen_of("\n".join([lines[left], lines[3]]), profile)[-1]
    judged([*done, msgspec.structs.replace(shown, outcome=between.outcome)], profile)
    later = shown.invoked + 60
    late = msgspec.structs.replace(shown, outcome=between.outcome, invoked=later, returned=later)
    (found,) = judged(done, profile).observe(late)
    assert found.statement == "ns.lease.closed-connection-removes-broker"


BACK_AT_ONCE = """
{"do":"register","broker":"b1","address":"a10","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"close","conn":"k1"}
{"do":"register","broker":"b1","address":"a10","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"cluster-info"}
"""


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_what_registers_right_behind_its_close_may_leave_with_it(profile: str) -> None:
    """Apache's servers find a broker by its connection and remove it a moment later."""
    *done, shown = seen_of(BACK_AT_ONCE, profile)
    (empty,) = seen_of('{"do":"cluster-info"}', profile)
    judged([*done, shown], profile)
    judged([*done, msgspec.structs.replace(shown, outcome=empty.outcome)], profile)


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_cluster_information_may_fail_while_a_broker_leaves(profile: str) -> None:
    """Apache's servers write it from tables that change meanwhile."""
    seen = seen_of(BACK_AT_ONCE, profile)
    closed, shown = seen[:2], seen[-1]
    assert isinstance(shown.outcome, Answered)
    failed = Answered(msgspec.structs.replace(shown.outcome.command, code=1, remark="it failed", body=b""))
    judged([*closed, msgspec.structs.replace(shown, outcome=failed)], profile)
    late = msgspec.structs.replace(shown, outcome=failed)
    knowledge = StateTracker(profile, NAMES, fresh=True)
    assert violations_of(knowledge, iter([seen[0], late]))
    judged_no_more = StateTracker(profile, NAMES, fresh=True)
    judged_no_more.observe(seen[0])
    (component,) = judged_no_more._components.all
    judged_no_more._components.untrack(component)
    assert not judged_no_more.observe(late)


OUTLIVED = """
{"do":"register","broker":"b1","address":"a10","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"time","seconds":140,"idle":["k1"]}
{"do":"cluster-info","conn":"k1"}
"""


@pytest.mark.parametrize("profile", ["4.9", "5.3"])
def test_a_connection_that_must_have_ended_answers_no_more(profile: str) -> None:
    seen = seen_of(OUTLIVED, profile)
    judged(seen, profile)
    silent = [one for one in seen if not isinstance(one.outcome, Ended)]
    assert len(silent) < len(seen)
    (violation,) = violations_of(StateTracker(profile, NAMES, fresh=True), iter(silent))
    assert violation.invariant == "idle-connection-is-closed"


SHARED_MAPPING = """
{"do":"register","broker":"b3","address":"a32","mappings":{"T0":["b0",4]}}
{"do":"register","conn":"k1","broker":"b1","address":"a10","topics":{"T1":[4,4,6,0],"T2":[4,4,6,0]},"mappings":{"T1":["b0",4]}}
{"do":"route","topic":"T1"}
"""


def test_brokers_that_map_to_one_name_are_judged_together() -> None:
    judged(seen_of(SHARED_MAPPING, "5.3"))


MAPPED_BEFORE = """
{"do":"register","broker":"b1","address":"a10","mappings":{"T0":["b0",4]}}
{"do":"time","seconds":126}
{"do":"cluster-info"}
{"do":"register","address":"a02","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"route"}
"""


def test_a_mapping_to_a_name_that_was_never_there_may_outlive_who_made_it() -> None:
    judged(seen_of(MAPPED_BEFORE, "5.3"))


LATE_AND_SHARED = """
{"do":"register","broker":"b3","address":"a30"}
{"do":"unregister","oneway":true,"broker":"b3","address":"a30"}
{"do":"register","broker":"b3","address":"a30","topics":{"T3":[8,5,6,0]}}
{"do":"register","broker":"b1","address":"a30","topics":{"U4":[4,4,6,1],"U6":[4,4,6,3]}}
{"do":"register","broker":"b3","address":"a30","topics":{"U4":[4,4,6,1],"U6":[4,4,6,3]},"counter":3}
{"do":"route","topic":"U6"}
{"do":"topics-of-cluster"}
"""


def test_lists_are_not_judged_by_names_that_share_an_address() -> None:
    judged(seen_of(LATE_AND_SHARED, "4.9"), "4.9")


TORN_ROUTE = """
{"do":"configure","lines":["supportActingMaster=true"]}
{"do":"register","broker":"b1","address":"a10","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"register","broker":"b1","address":"a11","id":1,"conn":"k2","acting":true,"topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"route"}
{"do":"unregister","broker":"b1","address":"a10","conn":"k1"}
"""


@pytest.mark.parametrize(("permission", "accused"), [(4, False), (6, False), (2, True)])
def test_a_route_may_show_brokers_as_they_were_and_queue_data_as_they_became(
    permission: int, accused: bool
) -> None:
    """Apache 5.3.3 was seen to: it writes queue data when it has let go of the lock."""
    *done, before, leaves = seen_of(TORN_ROUTE, "5.3")
    assert isinstance(before.outcome, Answered)
    command = before.outcome.command
    body = command.body.replace(b'"perm":6', b'"perm":%d' % permission)
    torn = msgspec.structs.replace(
        before,
        number=leaves.number + 1,
        invoked=leaves.returned,
        returned=leaves.returned,
        outcome=Answered(msgspec.structs.replace(command, body=body)),
    )
    found = violations_of(StateTracker("5.3", NAMES, fresh=True), iter([*done, before, leaves, torn]))
    assert bool(found) is accused


MAPPED_TO_A_MUTED_NAME = """
{"do":"register","broker":"b1","address":"a10","conn":"k1","topics":{"T0":[4,4,6,0],"T1":[4,4,6,0]}}
{"do":"register","address":"a00","conn":"k2","mappings":{"T0":["b1",4]}}
{"do":"route"}
"""


def test_what_maps_a_topic_to_a_muted_name_is_muted() -> None:
    first, mapping, route = seen_of(MAPPED_TO_A_MUTED_NAME, "5.3")
    knowledge = judged([first])
    (component,) = knowledge._components.all
    knowledge._components.untrack(component)
    assert knowledge.observe(mapping) == []
    assert NAMES.name("b0") in knowledge.untracked
    assert knowledge.observe(route) == []
