"""Chapter client: subscriptions that clients have checked (46)."""

from typing import Any

import msgspec

from harness.conformance import Containing, Reply, case
from harness.conformance.broker.client.joining import SUCCESS, SYSTEM_ERROR
from harness.session import BrokerSession, Exchange
from harness.session.broker.requests import consuming
from harness.wire import RequestCode


def checked(bk: BrokerSession, **subscription: Any) -> Exchange:
    """CHECK_CLIENT_CONFIG (46) for a subscription with these members, but for those that are None."""
    said: dict[str, Any] = {"clientId": "Verbraucher-Ä", "group": "Gruppe-Ä"}
    if subscription:
        whole = {**consuming("", ["Thema-Ä"])["subscriptionDataSet"][0], **subscription}
        said["subscriptionData"] = {name: value for name, value in whole.items() if value is not None}
    return bk.call(RequestCode.CHECK_CLIENT_CONFIG, None, msgspec.json.encode(said))


@case(kills=["tags-cannot-be-checked", "nothing-cannot-be-checked"])
def test_tags_can_be_checked(bk: BrokerSession) -> None:
    checked(bk, subString="Grün || Blau", subVersion=7, classFilterMode=True) >> Reply(SUCCESS)
    checked(bk, expressionType=None, subVersion=8) >> Reply(SUCCESS)
    checked(bk) >> Reply(SUCCESS)


@case(kills=["every-filter-passes"])
def test_other_filters_are_refused_when_they_are_checked(bk: BrokerSession) -> None:
    for kind in ("SQL92", "Prüfung"):
        refused = Reply(SYSTEM_ERROR, remark=Containing(kind))
        checked(bk, expressionType=kind, subString="a > 1") >> refused
    checked(bk, subString="A || B") >> Reply(SUCCESS)


@case(kills=["checks-need-no-json"])
def test_check_that_cannot_be_read_is_refused(bk: BrokerSession) -> None:
    bk.call(RequestCode.CHECK_CLIENT_CONFIG, None, b"junk") >> Reply(SYSTEM_ERROR)
    checked(bk, subString="*") >> Reply(SUCCESS)


@case(kills=["checks-need-a-body"])
def test_check_of_nothing_succeeds(bk: BrokerSession) -> None:
    bk.call(RequestCode.CHECK_CLIENT_CONFIG) >> Reply(SUCCESS)
