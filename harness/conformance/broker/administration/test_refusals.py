"""Chapter administration: what refusals say."""

from harness.conformance import Matching, Reply, case
from harness.session import BrokerSession
from harness.wire import ResponseCode

REASON = Matching(".")


@case(kills=["refusals-have-no-remark"])
def test_refusals_give_a_reason(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.create_group(group) >> Reply(ResponseCode.SUCCESS)
    bk.send(topic) >> Reply(ResponseCode.SUCCESS)
    bars = bk.pull(topic, group=group, subscription="||")
    bars >> Reply(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark=REASON)
    bk.pull(bk.name("none"), group=group) >> Reply(ResponseCode.TOPIC_NOT_EXIST, remark=REASON)
    illegal = ResponseCode.SYSTEM_ERROR, ResponseCode.INVALID_PARAMETER
    bk.pull(topic, 7, group=group) >> Reply(illegal, remark=REASON)
