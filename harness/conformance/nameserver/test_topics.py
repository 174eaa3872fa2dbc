"""Chapter topics: the list of all topics (206), projected on the topics that a case made."""

from harness.conformance import Reply, case
from harness.session import NameServerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS


@case(kills=["topic-list-has-one-topic-of-a-broker", "topic-list-is-not-answered"])
def test_every_topic_is_listed(ns: NameServerSession) -> None:
    broker = ns.broker(topics=("A", "B", "C"))
    broker.register() >> Reply(SUCCESS)
    ns.topics().among(broker.topics) >> Reply(SUCCESS, sorted(broker.topics))


@case(kills=["topic-list-repeats-topics"])
def test_a_topic_is_listed_once(ns: NameServerSession) -> None:
    one, other = ns.broker(), ns.broker()
    one.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    ns.topics().among(one.topics) >> Reply(SUCCESS, sorted(one.topics))


@case(kills=["topic-list-is-cached-for-a-second"])
def test_list_is_current(ns: NameServerSession) -> None:
    client, broker = ns.connect(), ns.broker()
    topics = [broker.topic(hint) for hint in ("A", "B", "C")]
    ns.topics(on=client).among(topics) >> Reply(SUCCESS, [])
    broker.register() >> Reply(SUCCESS)
    ns.topics(on=client).among(topics) >> Reply(SUCCESS, topics[:2])
    broker.register(topics, broker.newer()) >> Reply(SUCCESS)
    ns.topics(on=client).among(topics) >> Reply(SUCCESS, topics)


@case(kills=["topics-outlive-their-broker", "topic-leaves-with-first-broker"])
def test_served_topic_stays_listed(ns: NameServerSession) -> None:
    one, other = ns.broker(), ns.broker()
    one.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    one.unregister() >> Reply(SUCCESS)
    ns.settle()
    ns.topics().among(one.topics) >> Reply(SUCCESS, sorted(one.topics))
    other.unregister() >> Reply(SUCCESS)
    ns.topics().among(one.topics).eventually() >> Reply(SUCCESS, [])


@case(kills=["slave-publishes-topics"])
def test_unserved_topic_is_not_listed(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    ns.topics().among([*master.topics, *slave.topics]) >> Reply(SUCCESS, sorted(master.topics))


@case(kills=["topic-list-is-ascii"])
def test_non_ascii_topics_are_listed(ns: NameServerSession) -> None:
    broker = ns.broker()
    topics = [f"{broker.topic('T')}-é中", f"{broker.topic('T')}-\U0001f600"]
    broker.register(body=broker.body_of(*topics).encode()) >> Reply(SUCCESS)
    ns.topics().among(topics) >> Reply(SUCCESS, sorted(topics))
