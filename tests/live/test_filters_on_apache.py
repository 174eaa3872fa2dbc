"""Filters by SQL92, drawn at random, let the same messages pass on Apache's Broker as on the reference."""

from __future__ import annotations

import pytest
from clusters import VERSIONS, missing
from filters import Asking, Drawn, bodies, check, pull, send
from peers import Broker

from harness.targets import TargetError
from harness.wire import ResponseCode
from reference_impl.broker.sql import NoExpressionError, compiled

pytestmark = [pytest.mark.live, pytest.mark.soak]

MESSAGES = 32
"""As many as one pull returns."""
FILTERS = 600
NOWHERE = "127.0.0.1:9"
"""No NameServer is asked for anything."""
BITMAPS = {"enableCalcFilterBitMap": "true", "enableConsumeQueueExt": "true"}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("version", VERSIONS)
def test_drawn_filters_pass_what_apaches_pass(version: str, seed: int) -> None:
    drawn = Drawn(seed)
    messages = {str(number): drawn.properties() for number in range(MESSAGES)}
    filters = list(dict.fromkeys(drawn.filter() for _ in range(FILTERS)))
    settings = {"enablePropertyFilter": "true", **(BITMAPS if seed % 2 else {})}
    try:
        broker = Broker(version, [NOWHERE], **settings)
    except TargetError as problem:
        missing(problem)
        raise
    try:
        asking = Asking(broker.address, {"4.9.8": 409, "5.3.3": 479}[version])
        sent = [reply for one in messages.items() for reply in asking.all([send("T", *one)])]
        assert {reply.code for reply in sent} == {ResponseCode.SUCCESS}
        checked = asking.all(check("T", one) for one in filters)
        pulled = asking.all(pull("T", one) for one in filters)
        asking.close()
    finally:
        broker.stop()

    def expected(expression: str) -> tuple[int, list[str]]:
        try:
            selector = compiled(expression, v5=VERSIONS[version] != "4.9")
        except NoExpressionError:
            return ResponseCode.SUBSCRIPTION_PARSE_FAILED, list(messages)
        return ResponseCode.SUCCESS, [body for body, one in messages.items() if selector.wants(one)]

    theirs = {
        one: (check_reply.code, bodies(pull_reply))
        for one, check_reply, pull_reply in zip(filters, checked, pulled, strict=True)
    }
    ours = {one: expected(one) for one in filters}
    different = {one: (theirs[one], ours[one]) for one in filters if theirs[one] != ours[one]}
    assert different == {}, "\n".join(f"{one!r}: {found}" for one, found in different.items())
    telling = sum(1 for _, found in ours.values() if 0 < len(found) < MESSAGES)
    refused = sum(1 for code, _ in ours.values() if code)
    assert telling > FILTERS // 10, "the filters tell few messages apart"
    assert refused > FILTERS // 20, "few of the filters cannot be compiled"
