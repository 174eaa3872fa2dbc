"""Chapter role: what a Broker removes of topics that its master does not have."""

from harness.conformance import ABSENT, Including, Reply, case
from harness.conformance.broker.role.changing import MASTER, SLAVE, SUCCESS
from harness.conformance.broker.role.masters import TOLD, table_of, taken_over
from harness.session import BrokerSession
from harness.wire import RequestCode
from harness.wire.messages import TopicName

LEVEL = 18
"""Of a message that stays delayed."""


def ends(bk: BrokerSession, queues: list[tuple[str, int]], offset: int) -> None:
    """All of these queues end at an offset."""
    for topic, queue in queues:
        bk.max_offset(topic, queue).offset.eventually() >> Reply(SUCCESS, offset)


@case(
    kills=["cleaning-removes-nothing", "cleaning-removes-one-topic", "cleaning-removes-delayed-messages"],
    clock=True,
    own_server=True,
    setup=TOLD,
)
def test_cleaning_removes_topics_that_are_gone(bk: BrokerSession) -> None:
    bk.update_config(MASTER) >> Reply(SUCCESS)
    queues = [(bk.topic(), 1), (bk.topic("V"), 2)]
    for topic, queue in queues * 2:
        bk.send(topic, queue=queue) >> Reply(SUCCESS)
    bk.send(queues[0][0], properties={"DELAY": str(LEVEL)}) >> Reply(SUCCESS)
    delayed = [(TopicName.SCHEDULE, LEVEL - 1)]
    ends(bk, queues, 2)
    ends(bk, delayed, 1)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    taken_over(bk, table_of(77, bk.name("U"), 5))
    gone = {topic: ABSENT for topic, _ in queues} | {TopicName.SCHEDULE: ABSENT}
    bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": Including(gone)}))
    ends(bk, queues, 2)
    bk.call(RequestCode.CLEAN_UNUSED_TOPIC) >> Reply(SUCCESS)
    ends(bk, queues, 0)
    ends(bk, delayed, 1)
