"""Chapter pull: the VIP port, where nothing is pulled."""

from harness.conformance import Matching, Reply, case
from harness.conformance.broker.client.joining import joined, told
from harness.conformance.broker.pull.filled import LITE, SUCCESS, filled
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.wire import RequestCode, ResponseCode


@case(
    kills=["fast-port-serves-pulls", "fast-port-serves-lite-pulls", "fast-port-serves-what-came-later"],
)
def test_fast_port_serves_no_pulls(bk: BrokerSession) -> None:
    topic, fast = filled(bk, "a"), bk.connect_fast()
    refused = Reply(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=Matching("not supported"))
    bk.pull(topic, on=fast) >> refused
    bk.pull(topic, code=LITE, on=fast) >> refused
    asked = {"consumerGroup": bk.group(), "topic": topic, "queueId": "0"}
    for code in (
        RequestCode.POP_MESSAGE,
        RequestCode.PEEK_MESSAGE,
        RequestCode.NOTIFICATION,
        RequestCode.POLLING_INFO,
        RequestCode.POP_LITE_MESSAGE,
    ):
        bk.call(code, asked, on=fast) >> refused
    bk.pull(topic).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["fast-port-takes-no-messages", "clients-of-the-fast-port-stay"])
def test_fast_port_serves_the_rest(bk: BrokerSession) -> None:
    topic, group, fast, name = bk.topic(), bk.group(), bk.connect_fast(), bk.name("client")
    wants = consuming(group, [topic])
    bk.heartbeat(name, consumers=[wants], on=fast) >> Reply(SUCCESS)
    fast.next_request() >> told(group)
    bk.send(topic, b"fast", on=fast) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"fast"])
    bk.commit_offset(group, topic, 0, 1, on=fast) >> Reply(SUCCESS)
    bk.committed(group, topic, 0, on=fast).offset >> Reply(SUCCESS, 1)
    other, _ = joined(bk, wants)
    fast.next_request() >> told(group)
    bk.consumers(group).ids >> Reply(SUCCESS, sorted([name, other]))
    fast.close()
    bk.consumers(group).ids.eventually() >> Reply(SUCCESS, [other])
