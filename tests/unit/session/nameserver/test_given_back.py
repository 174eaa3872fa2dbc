"""A session gives the target back as it was, whatever becomes of its case."""

from __future__ import annotations

from typing import Any

import pytest

from harness.session import Blocked, NameServerSession, Replied
from harness.targets import parse
from harness.trace import Sent
from harness.wire import ResponseCode

PAIRS = "orderMessageEnable=true\nserverChannelMaxIdleTimeSeconds=7"


def settings(instance: Any) -> Any:
    with NameServerSession(instance, "5.3") as ns:
        asked = ns.config().settings
        return asked.look(asked.outcome())


@pytest.mark.parametrize("fails", [False, True])
def test_settings_are_set_back_also_where_a_case_fails_half_way(fails: bool) -> None:
    instance = parse("builtin:5.3").start()
    before = settings(instance)
    try:
        with NameServerSession(instance, "5.3") as ns:
            ns.update_config(PAIRS).outcome()
            ns.update_config("productEnvName=elsewhere").outcome()
            assert settings(instance) != before
            if fails:
                raise AssertionError("half way")
    except AssertionError:
        assert fails
    assert settings(instance) == before


def test_settings_that_are_as_they_were_are_not_set_again() -> None:
    instance = parse("builtin:5.3").start()
    with NameServerSession(instance, "5.3") as ns:
        ns.update_config("orderMessageEnable=true").outcome()
        ns.update_config("orderMessageEnable=false").outcome()
    own = [event for event in ns.trace.events if isinstance(event, Sent) and event.purpose == "barrier"]
    assert len(own) == 2  # the settings before and after


def test_a_server_that_shows_no_settings_is_left_as_it_is() -> None:
    instance = parse("builtin:5.3?mutant=serves-the-essential-only").start()
    with NameServerSession(instance, "5.3") as ns:
        refused = ns.update_config(PAIRS).outcome()
    assert isinstance(refused, Replied)
    assert refused.command.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


def test_the_latest_comes_first_and_what_fails_is_noted() -> None:
    done: list[int] = []

    def fails() -> None:
        raise Blocked("gone")

    with NameServerSession(parse("builtin:5.3").start(), "5.3") as ns:
        for number in (1, 2):
            ns.afterwards(lambda number=number: done.append(number))
        ns.afterwards(fails)
    assert done == [2, 1]
    notes = [event.text for event in ns.trace.events if hasattr(event, "text")]
    assert notes == ["the target could not be given back as it was: gone"]
    ns.close()
    assert done == [2, 1]


def test_a_request_that_comes_in_pieces_has_a_code() -> None:
    with NameServerSession(parse("builtin:5.3").start(), "5.3") as ns:
        whole = ns.topics()
        whole.outcome()
        connection = ns.connect()
        connection.write(whole.sent[:5])
        rest = connection.send_raw(whole.sent[5:])
        rest.outcome()
        nothing = connection.send_raw(b"\0\0")
        nothing.outcome(silence_is_an_answer=True)
    assert (whole.code, rest.code, nothing.code) == (206, 206, None)


def test_what_is_ordinary_is_known() -> None:
    with NameServerSession(parse("builtin:5.3").start(), "5.3") as ns:
        broker = ns.broker()
        ordinary = [
            broker.register(),
            broker.register(topics=["C"], version=broker.newer()),
            broker.heartbeat(),
        ]
        ordinary += [ns.route("T"), broker.unregister()]
        odd = [broker.register(crc=7), broker.register(ext={"x": "y"}), broker.register(body=b"{}")]
        odd += [ns.route("T", ext={"x": "y"}), broker.unregister(flag=0), ns.connect().send_raw(b"\0")]
        for one in (*ordinary, *odd):
            one.outcome(silence_is_an_answer=True)
    assert {one.is_ordinary for one in ordinary} == {True}
    assert {one.is_ordinary for one in odd} == {False}


def test_an_entry_of_the_kv_table_is_deleted_in_the_end() -> None:
    instance = parse("builtin:5.3").start()
    with NameServerSession(instance, "5.3") as ns:
        ns.forget_kv("space", "key")
        ns.put_kv("space", "key", "value").outcome()
    with NameServerSession(instance, "5.3") as ns:
        found = ns.get_kv("space", "key").outcome()
    assert isinstance(found, Replied)
    assert found.command.code == ResponseCode.QUERY_NOT_FOUND


def test_a_server_that_deletes_nothing_is_not_asked_twice() -> None:
    instance = parse("builtin:5.3?mutant=serves-the-essential-only").start()
    with NameServerSession(instance, "5.3") as ns:
        ns.forget_kv("space", "key")
    assert sum(isinstance(event, Sent) for event in ns.trace.events) == 1
