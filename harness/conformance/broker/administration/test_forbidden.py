"""Chapter administration: topics that a group may not read (353)."""

from harness.conformance import Including, Reply, case
from harness.conformance.broker.tools import SUCCESS, asked
from harness.session import BrokerSession, Exchange
from harness.wire import RequestCode


def forbidden(bk: BrokerSession, group: str, topic: str, **readable: str) -> Exchange:
    """UPDATE_AND_GET_GROUP_FORBIDDEN (353)."""
    code = RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN
    return asked(bk, code, None, group=group, topic=topic, **readable)


@case(kills=["nothing-is-forbidden", "forbidden-for-ever", "forbidden-is-not-kept"], own_server=True)
def test_what_is_forbidden_is_kept(bk: BrokerSession) -> None:
    group, topics = bk.group(), (bk.topic("one"), bk.topic("two"))
    for topic in topics:
        noted = {"group": group, "topic": topic}
        forbidden(bk, group, topic) >> Reply(SUCCESS, {**noted, "readable": True})
        forbidden(bk, group, topic, readable="false") >> Reply(SUCCESS, {**noted, "readable": False})
    bk.groups().json >> Reply(SUCCESS, Including({"forbiddenTable": {group: dict.fromkeys(topics, 4)}}))
    bk.restart()
    noted = {"group": group, "topic": topics[0]}
    forbidden(bk, group, topics[0]) >> Reply(SUCCESS, {**noted, "readable": False})
    forbidden(bk, group, topics[0], readable="true") >> Reply(SUCCESS, {**noted, "readable": True})


@case(kills=["one-topic-is-all-topics"])
def test_what_is_allowed_is_one_topic(bk: BrokerSession) -> None:
    group, one, two = bk.group(), bk.topic("one"), bk.topic("two")
    for topic in (one, two):
        forbidden(bk, group, topic, readable="false") >> Reply(SUCCESS)
    forbidden(bk, group, one, readable="true") >> Reply(SUCCESS)
    noted = Including({group: {two: 4}})
    bk.groups().json >> Reply(SUCCESS, Including({"forbiddenTable": noted}))
