"""Requests as data: their arguments, fields and defaults."""

from __future__ import annotations

import pytest

from harness.session import Exchange, Misuse
from harness.session.broker.requests import BrokerRequests
from harness.session.nameserver.requests import NameServerRequests
from harness.session.request_method import RequestMethod
from harness.wire import RequestCode


def test_a_field_that_the_catalogue_does_not_know_is_refused() -> None:
    with pytest.raises(Misuse, match=r"DELETE_TOPIC_IN_NAMESRV \(216\) has no field name"):
        RequestMethod(Exchange, RequestCode.DELETE_TOPIC_IN_NAMESRV, "delete", topic="name")


def test_a_method_says_what_it_sends() -> None:
    assert BrokerRequests.max_offset.__doc__ == "GET_MAX_OFFSET (30): topic, queue."
    assert NameServerRequests.topics.__doc__ == "GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206): no fields."
