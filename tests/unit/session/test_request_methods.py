"""Requests as data: their arguments, fields and defaults."""

from __future__ import annotations

import pytest

from harness.session import Exchange, Misuse, NameServerSession
from harness.session.broker.requests import BrokerRequests
from harness.session.nameserver.requests import NameServerRequests
from harness.session.request_method import RequestMethod
from harness.session.requests import request_title
from harness.targets import parse
from harness.wire import RequestCode


def test_a_field_that_the_catalogue_does_not_know_is_refused() -> None:
    with pytest.raises(Misuse, match=r"DELETE_TOPIC_IN_NAMESRV \(216\) has no field name"):
        RequestMethod(Exchange, RequestCode.DELETE_TOPIC_IN_NAMESRV, topic="name")


def test_a_method_says_what_it_sends() -> None:
    assert BrokerRequests.max_offset.__doc__ == "GET_MAX_OFFSET (30): topic, queue."
    assert NameServerRequests.topics.__doc__ == "GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206): no fields."


@pytest.mark.parametrize(
    ("code", "about", "title"),
    [
        (RequestCode.QUERY_DATA_VERSION, "broker-x", "322 QUERY_DATA_VERSION of broker-x"),
        (206, "", "206 GET_ALL_TOPIC_LIST_FROM_NAMESERVER"),
        (9999, "", "request 9999"),
    ],
)
def test_reports_call_a_request_by_code_and_name(code: int, about: str, title: str) -> None:
    assert request_title(code, about) == title


def test_reports_name_the_arguments_of_a_request() -> None:
    instance = parse("builtin:5.3").start()
    with NameServerSession(instance, "5.3") as ns:
        exchanges = [ns.put_kv("space", "key", "value"), ns.route("T"), ns.route("T", True)]
        titles = [exchange.subject for exchange in exchanges]
        for exchange in exchanges:
            exchange.outcome()
    assert titles == [
        "100 PUT_KV_CONFIG of space, key, value",
        "105 GET_ROUTEINFO_BY_TOPIC of T",
        "105 GET_ROUTEINFO_BY_TOPIC of T, standard True",
    ]
