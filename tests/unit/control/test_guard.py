"""Under which Hosts a control port may be asked, and from where."""

from __future__ import annotations

import pytest

from harness.control.guard import Hosts
from harness.control.problems import ProblemError

LOOPBACK = Hosts()
OPEN = Hosts(["rocketmq", "Mq.Example.org."], is_open=True)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1:1", "127.9.9.9", "[::1]:8080"]
)
def test_loopback_is_always_taken(host: str) -> None:
    LOOPBACK.check([("host", host)])
    OPEN.check([("Host", host)])


@pytest.mark.parametrize("host", ["192.0.2.7:8080", "[2001:db8::1]", "rocketmq:8080", "mq.example.org"])
def test_others_are_taken_where_it_was_said(host: str) -> None:
    OPEN.check([("host", host)])
    with pytest.raises(ProblemError, match="Host: expected localhost"):
        LOOPBACK.check([("host", host)])


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "rocketmq.evil.example", ""),
        *(
            "localhost:port",
            "user@localhost",
            "localhost/x",
            "[::1",
            "::1",
            "2130706433",
            "0x7f.1",
            "localhost:1:2",
        ),
    ],
)
def test_other_names_are_refused(host: str) -> None:
    with pytest.raises(ProblemError, match="Host"):
        OPEN.check([("host", host)])


@pytest.mark.parametrize("headers", [[], [("host", "localhost"), ("host", "evil.example")]])
def test_there_is_one_host(headers: list[tuple[str, str]]) -> None:
    with pytest.raises(ProblemError, match="Host"):
        LOOPBACK.check(headers)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("origin", "http://evil.example"),
        ("Origin", "null"),
        ("origin", "http://localhost.evil.example:80"),
        ("origin", "http://localhost"),
        ("origin", "http://localhost:3000"),
        ("origin", "https://localhost:1"),
        ("origin", "http://evil.example@localhost:1"),
        ("origin", "http://[x"),
        ("origin", ""),
        ("sec-fetch-site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ],
)
def test_pages_of_other_sites_are_refused(name: str, value: str) -> None:
    with pytest.raises(ProblemError, match=name.title()):
        LOOPBACK.check([("host", "localhost:1"), (name, value)])


def test_a_page_of_any_address_may_not_ask_an_open_port() -> None:
    with pytest.raises(ProblemError, match="Origin"):
        OPEN.check([("host", "192.0.2.7:8080"), ("origin", "http://198.51.100.9")])


def test_a_page_of_this_machine_may_ask() -> None:
    LOOPBACK.check(
        [("host", "localhost:1"), ("origin", "http://localhost:1"), ("sec-fetch-site", "same-origin")]
    )
