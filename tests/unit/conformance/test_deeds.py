"""What a failure shows beside what it asked: the deed that the answer is about, and what came in between."""

from __future__ import annotations

from running_samples import Body, run

from harness.conformance import Closed, Reply, Request
from harness.conformance.shared.frames import json_frame, query_header
from harness.report.cause_words import deed_lines, sent_lines
from harness.report.results import Failure
from harness.session import NameServerSession
from harness.wire import RequestCode


def failure_of(body: Body) -> Failure:
    failure = run(body).failure
    assert failure is not None
    return failure


def test_a_question_comes_with_the_last_change_before_it() -> None:
    def body(ns: NameServerSession) -> None:
        broker = ns.broker()
        broker.register() >> Reply(0)
        broker.unregister() >> Reply(0)
        ns.cluster().addresses(broker.name) >> Reply(0, {7: broker.address})

    failure = failure_of(body)
    assert failure.deed is not None
    assert failure.deed.request == "104 UNREGISTER_BROKER"
    assert '"brokerId":"0"' in failure.deed.header
    assert failure.then == ()
    assert failure.sent is not None
    assert failure.sent.request == "106 GET_BROKER_CLUSTER_INFO"


def test_a_change_that_is_answered_wrongly_needs_no_other() -> None:
    def body(ns: NameServerSession) -> None:
        ns.broker().register() >> Reply(0)
        ns.broker().register() >> Reply(1)

    failure = failure_of(body)
    assert (failure.deed, failure.then) == (None, ())


def test_what_came_after_the_change_is_said_and_the_connections_of_the_harness_are_not() -> None:
    def body(ns: NameServerSession) -> None:
        broker = ns.broker()
        broker.register() >> Reply(0)
        ns.settle()
        ns.advance(1)
        broker.connection.close()
        ns.settle()
        ns.cluster().addresses(broker.name) >> Reply(0, {0: broker.address})

    failure = failure_of(body)
    assert failure.then == ("time", "closed connection")
    assert deed_lines(failure)[0] == "103 REGISTER_BROKER"
    assert deed_lines(failure)[-2:] == ["then time passed", "then a connection was closed"]


def test_what_a_server_should_send_by_itself_comes_with_the_deed_alone() -> None:
    def body(ns: NameServerSession) -> None:
        broker = ns.broker()
        heard = broker.listen()
        broker.register() >> Reply(0)
        heard.next_request() >> Request(RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE)

    failure = failure_of(body)
    assert failure.sent is None
    assert failure.then == ()  # connections that are closed when the case has ended are no deed
    assert failure.deed is not None
    assert failure.deed.request == "103 REGISTER_BROKER"


def test_a_connection_that_should_be_closed_shows_what_was_written_on_it() -> None:
    def body(ns: NameServerSession) -> None:
        ns.connect(preamble=json_frame(query_header())).closes() >> Closed()

    failure = failure_of(body)
    assert failure.sent is not None
    assert sent_lines(failure.sent)[0].startswith("105 GET_ROUTEINFO_BY_TOPIC")
    assert failure.deed is None


def test_a_connection_that_was_answered_and_should_then_be_closed_shows_the_answered_request() -> None:
    def body(ns: NameServerSession) -> None:
        connection = ns.connect()
        connection.call(*ns.query) >> Reply(17)
        connection.closes() >> Closed()

    failure = failure_of(body)
    assert failure.sent is None
    assert failure.deed is not None
    assert failure.deed.request == "105 GET_ROUTEINFO_BY_TOPIC"


def test_the_line_of_a_request_says_what_is_special_in_it() -> None:
    def body(ns: NameServerSession) -> None:
        ns.connect(tls=True).call(*ns.query) >> Reply(0)

    failure = failure_of(body)
    assert failure.sent is not None
    assert sent_lines(failure.sent)[0] == "105 GET_ROUTEINFO_BY_TOPIC (under TLS)"
