"""Chapter names: ids of clients and tags beyond ASCII, and values that differ from every default."""

from harness.conformance import Including, Reply, Request, Silence, case
from harness.session import BrokerSession, Connection
from harness.session.broker.requests import consuming
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import decode_offset_id

SUCCESS = ResponseCode.SUCCESS
INFO = RequestCode.GET_CONSUMER_RUNNING_INFO
CONSUME = RequestCode.CONSUME_MESSAGE_DIRECTLY
STATUS = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
GATHER = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
WITHIN = 10
"""Protocol seconds that a client has for its answer."""


def names(bk: BrokerSession) -> tuple[str, str]:
    """Two ids of clients that differ in characters beyond ASCII alone."""
    client = bk.name("client")
    return f"{client}@é中", f"{client}@ö文"


def members(bk: BrokerSession, group: str) -> tuple[str, Connection, Connection]:
    """Two members of a group: the id of the first, and the connections of both."""
    one, other = names(bk)
    first, second = bk.connect(), bk.connect()
    for client, connection in ((one, first), (other, second)):
        bk.heartbeat(client, consumers=[consuming(group)], on=connection) >> Reply(SUCCESS)
    return one, first, second


@case(kills=["clients-have-ascii-names"])
def test_clients_are_listed(bk: BrokerSession) -> None:
    group, clients = bk.group(), names(bk)
    for client in clients:
        bk.heartbeat(client, consumers=[consuming(group)], on=bk.connect()) >> Reply(SUCCESS)
    bk.consumers(group).ids >> Reply(SUCCESS, sorted(clients))


@case(kills=["locks-are-of-ascii-names", "unlocking-clients-have-ascii-names"])
def test_clients_hold_their_own_locks(bk: BrokerSession) -> None:
    group, (one, other), queues = bk.group(), names(bk), [(bk.topic(), 1)]
    bk.lock(group, one, queues).queues >> Reply(SUCCESS, queues)
    bk.lock(group, other, queues).queues >> Reply(SUCCESS, [])
    bk.unlock(group, other, queues) >> Reply(SUCCESS)
    bk.lock(group, other, queues).queues >> Reply(SUCCESS, [])
    bk.unlock(group, one, queues) >> Reply(SUCCESS)
    bk.lock(group, other, queues).queues >> Reply(SUCCESS, queues)


@case(kills=["questions-are-for-ascii-names", "stacks-are-always-asked-for"])
def test_client_is_asked(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection, other = members(bk, group)
    asking = bk.call(INFO, {"consumerGroup": group, "clientId": client, "jstackEnable": False})
    bk.while_lasts(WITHIN, bk.mark())
    told = Including({"clientId": client, "jstackEnable": "false"})
    connection.respond(connection.next_request(INFO) >> Request(INFO, ext=told))
    asking >> Reply(SUCCESS)
    other.next_request(INFO) >> Silence()


@case(kills=["messages-go-to-ascii-names"])
def test_client_consumes_a_message(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    client, connection, other = members(bk, group)
    sent = str((bk.send(topic, b"whole").ids >> Reply(SUCCESS)).value[0])
    asking = bk.call(CONSUME, {"consumerGroup": group, "clientId": client, "msgId": sent})
    bk.while_lasts(WITHIN, bk.mark())
    told = Including({"clientId": client})
    connection.respond(connection.next_request(CONSUME) >> Request(CONSUME, ext=told))
    asking >> Reply(SUCCESS)
    other.next_request(CONSUME) >> Silence()


@case(kills=["status-is-of-ascii-names"])
def test_status_is_that_of_the_client(bk: BrokerSession) -> None:
    group = bk.group()
    client, connection, other = members(bk, group)
    asking = bk.call(GATHER, {"topic": bk.topic(), "group": group, "clientAddr": client})
    connection.respond(connection.next_request(STATUS) >> Request(STATUS))
    asking >> Reply(SUCCESS)
    other.next_request(STATUS) >> Silence()


@case(kills=["tags-are-ascii"])
def test_tag_is_wanted(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    for tag in ("ö文", "é中"):
        bk.send(topic, tag.encode(), tags=tag) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 2)
    bk.heartbeat(bk.name("client"), consumers=[consuming(group, {topic: "é中"})]) >> Reply(SUCCESS)
    bk.pull(topic, group=group, sys_flag=0, subscription=None).bodies >> Reply(SUCCESS, ["é中".encode()])
    bk.pull(topic, subscription="é中").bodies >> Reply(SUCCESS, ["é中".encode()])


@case(kills=["units-are-ignored", "units-of-messages-are-ignored", "every-retry-is-of-a-unit"])
def test_unit_mode_marks_the_retry_topic(bk: BrokerSession) -> None:
    table = {}
    for unit, flag in ((True, 2), (False, 0)):
        group = bk.group()
        wants = consuming(group, [bk.topic()]) | {"unitMode": unit}
        bk.heartbeat(bk.name("client"), consumers=[wants]) >> Reply(SUCCESS)
        back, topic = bk.group("back"), bk.topic()
        sent = bk.send(topic).ids >> Reply(SUCCESS)
        said = {"unitMode": str(unit).lower()}
        bk.send_back(back, decode_offset_id(sent.value[0])[1], topic=topic, ext=said) >> Reply(SUCCESS)
        for one in (group, back):
            table[f"%RETRY%{one}"] = Including({"topicSysFlag": flag})
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": Including(table)}))
