"""Chapter role: what a slave makes of a master of another line."""

import msgspec

from harness.conformance import Including, Reply, Request, case
from harness.conformance.broker.registrations import REGISTER, next_of_time
from harness.conformance.broker.role.changing import SUCCESS
from harness.conformance.broker.role.masters import TOLD, WRITTEN_AFTER, table_of, taken_over
from harness.session import BrokerSession
from harness.wire import RequestCode

GROUPS = RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
OF_5X = {
    "attributes": {},
    "consumeMessageOrderly": False,
    "consumeTimeoutMinute": 15,
    "groupRetryPolicy": {"type": "CUSTOMIZED"},
    "groupSysFlag": 0,
}
"""Members of a group that 4.9 does not have, as they are by default."""


@case(
    kills=["older-masters-leave-out-attributes-of-topics", "older-masters-leave-out-members-of-groups"],
    clock=True,
    own_server=True,
    setup=TOLD,
)
def test_slave_adds_what_an_older_master_leaves_out(bk: BrokerSession) -> None:
    topic, group = bk.name("T"), bk.group()
    members = {"groupName": group, "retryMaxTimes": 5}
    version = {"counter": 78, "timestamp": 1_700_000_000_078}
    groups = {"dataVersion": version, "subscriptionGroupTable": {group: members}}
    master = bk.nameservers[1]
    master.answers(GROUPS, body=msgspec.json.encode(groups))
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address})
    told = next_of_time(bk)
    master.next(GROUPS, since=told, within=90 + bk.jitter) >> Request(GROUPS)
    taken_over(bk, table_of(77, topic, 3))
    topics = Including({topic: Including({"attributes": {}, "readQueueNums": 3})})
    shown = Including({group: Including({**OF_5X, "retryMaxTimes": 5})})
    bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": topics}))
    bk.groups().json.eventually() >> Reply(SUCCESS, Including({"subscriptionGroupTable": shown}))
    bk.nameserver.behaves()
    bk.advance(WRITTEN_AFTER)
    bk.restart("kill")
    bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": topics}))
    bk.groups().json.eventually() >> Reply(SUCCESS, Including({"subscriptionGroupTable": shown}))
