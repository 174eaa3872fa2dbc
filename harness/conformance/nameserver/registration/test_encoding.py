"""Chapter registration: bodies that are not UTF-8."""

from harness.conformance import Reply, case
from harness.conformance.nameserver.registration.bodies import is_unknown, serves
from harness.session import NameServerSession
from harness.wire import ResponseCode
from harness.wire.bodies import TopicConfig

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR

BARE, WHOLE = 36, 409
"""Versions of headers: the last whose body is read as a bare table, and one of 4.9."""


@case(kills=["registrations-that-are-no-utf-8-are-read"])
def test_no_utf_8_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    body = broker.body()
    body.filter_servers = ["?"]
    for text, answer in ((b"\xff", SYSTEM_ERROR), (b"\x80", SYSTEM_ERROR), (b"\xc3\xbf", SUCCESS)):
        is_unknown(ns, broker)
        broker.register(body=body.encode().replace(b"?", text)) >> Reply(answer)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(kills=["registrations-that-are-no-utf-8-are-refused"])
def test_no_utf_8_is_replaced(ns: NameServerSession) -> None:
    for version in (BARE, WHOLE):
        broker = ns.broker()
        broker.version = broker.newer(version)
        name = f"{broker.topic(f'v{version}')}-"
        topic = TopicConfig(f"{name}?", read_queue_nums=5, write_queue_nums=3, perm=4, topic_sys_flag=3)
        body = broker.body_of(topic, broker.topic("B"))
        sent = (body.encode_bare() if version == BARE else body.encode()).replace(b"?", b"\xff")
        broker.register(body=sent, announces=version) >> Reply(SUCCESS)
        ns.route(f"{name}\ufffd").queues >> Reply(SUCCESS, {broker.name: (5, 3, 4, 3)})
        broker.query_version().changed >> Reply(SUCCESS, False)
