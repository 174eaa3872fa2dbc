"""Whatever is sent to a control port is refused with words or carried out, and reaches nothing else."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.control.port import JSON, Answer, Port, serving

from harness.control.operations import OPERATIONS, Operation
from harness.control.reading import LARGEST

HEADERS: Final = {"Content-Type": JSON}
MARK: Final = "stranger"
DOORS: Final = [
    *("../../../../stranger", "/etc/passwd", "..\\stranger", "%2e%2e/stranger", "file:///etc/passwd"),
    *("$(touch stranger)", "`touch stranger`", "; touch stranger", "| touch stranger", "{{7*7}}"),
    *("\x00", "\x01\x02", "a\nb", "%RETRY%../x", "é" * 300, "x" * 70_000, "", "-1", "1e400", "NaN", "null"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def port(home: Path) -> Iterator[Port]:
    """A cluster that keeps messages on the disk, where names of topics become names of directories."""
    (home / "here").mkdir()
    with serving("--store", "store", directory=home / "here") as port:
        yield port


def outside(home: Path) -> set[str]:
    """What there is beside the store of the cluster."""
    below = (path.relative_to(home) for path in home.rglob("*"))
    return {str(path) for path in below if "store" not in path.parts}


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**31)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(DOORS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_OF_DAMAGES: Final = ("kib", "depth", "count", "data", "keep", "mask", "value")
_LONG: Final = {"duration", "reaction", "timeout", "seconds"}
"""Lengths of time, which a test does not wait for."""


def _likely(name: str) -> st.SearchStrategy[Any]:
    """A value of the kind that a field takes, now and then."""
    known: dict[str, st.SearchStrategy[Any]] = {
        "topic": st.sampled_from(["orders", *DOORS]),
        "group": st.sampled_from(["billing", *DOORS]),
        "name": st.sampled_from(["broker-a", "nameserver-0", *DOORS]),
        "answer": st.integers() | st.sampled_from(["SYSTEM_BUSY", *DOORS]),
        "damages": st.lists(
            st.fixed_dictionaries(
                {"is": st.sampled_from(["bomb", "deep", "many", "raw", "cut", "bits", "length"])},
                optional=dict.fromkeys(_OF_DAMAGES, _VALUES),
            ),
            max_size=2,
        ),
        "members": st.integers(min_value=-1),
    }
    return known.get(name, _VALUES)


def _fields(operation: Operation) -> st.SearchStrategy[dict[str, Any]]:
    names = [one for one in operation.parameters.__struct_fields__ if one not in _LONG]
    return st.fixed_dictionaries({}, optional={one: _likely(one) | _VALUES for one in [*names, "unknown"]})


_CALLS = st.sampled_from(OPERATIONS).flatmap(lambda one: st.tuples(st.just(one), _fields(one)))


def judged(answer: Answer) -> None:
    """A request is carried out, or the answer says why not. The control port itself does not fail."""
    if answer.status not in (200, 204):
        assert 400 <= answer.status < 500, answer
        assert answer.problem


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(call=_CALLS, as_bytes=st.binary(max_size=8), cut=st.booleans())
def test_requests_that_are_drawn_are_refused_or_carried_out(
    call: tuple[Operation, dict[str, Any]], as_bytes: bytes, cut: bool, port: Port, home: Path
) -> None:
    operation, given = call
    body = json.dumps(given).encode()
    if cut:
        body = body[: len(body) // 2] + as_bytes
    judged(port.ask("POST", operation.path, body, HEADERS))
    judged(port.ask("GET", f"{operation.path}?x=%ff&{'&'.join(map(str, given))[:500].encode().hex()}"))
    assert outside(home) == {"here"}
    assert port.get("/")["namesrv"]


@pytest.mark.parametrize("value", DOORS, ids=repr)
def test_no_path_and_no_command_is_reached_by_a_name(value: str, port: Port, home: Path) -> None:
    """A name is refused, or it is the name of something that can be asked for under it."""
    made = port.ask("POST", "/topic", json.dumps({"name": value}).encode(), HEADERS)
    judged(made)
    if made.status == 200:
        port.post("/send", topic=value, body="x")
        assert [one["topic"] for one in port.get("/messages", topic=value)] == [value]
    judged(port.ask("POST", "/group", json.dumps({"name": value}).encode(), HEADERS))
    judged(port.ask("POST", "/stop_broker", json.dumps({"name": value}).encode(), HEADERS))
    judged(port.ask("POST", "/fault/refuse", json.dumps({"answer": value}).encode(), HEADERS))
    assert outside(home) == {"here"}
    assert not list(home.rglob("passwd"))
    assert not list(home.rglob(f"*{MARK}*"))


@pytest.mark.parametrize(
    "path",
    [
        *("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/messages/../now", "/messages/"),
        *("/..%2fnow", "/now%00", "/now;x", "/NOW", "/openapi.json/", "/static/x", "/docs", "/%6eow/"),
    ],
)
def test_paths_are_exact(path: str, port: Port) -> None:
    assert port.ask("GET", path).problem.startswith("unknown: ")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"{", "malformed: body: expected a JSON object in UTF-8; Input data was truncated"),
        (b"[]", "malformed: body: expected a JSON object, got a list; /topic takes name, [queues]"),
        (b'"x"', "malformed: body: expected a JSON object, got 'x'"),
        (b"null", "malformed: body: expected a JSON object, got null"),
        (b"", "malformed: Object missing required field `name`; /topic takes name, [queues]"),
        (b'{"name": 7}', "malformed: Expected `str`, got `int` - at `$.name`; /topic takes"),
        (b'{"name": "x", "queue": 1}', "malformed: Object contains unknown field `queue`; /topic takes"),
        (b'{"name": "x", "queues": 1.5}', "malformed: Expected `int`, got `float` - at `$.queues`"),
        (b'{"name": "x", "queues": 0}', "argument: queues=0 of topic 'x': expected a number from 1 to 1024"),
        (b'{"name": "\xff"}', "malformed: body: expected a JSON object in UTF-8"),
        (b'{"name": "\\ud800"}', "malformed: body: expected a JSON object in UTF-8"),
        (b'{"name": ' + b"[" * 100_000, "malformed: body: expected a JSON object in UTF-8"),
        (b'{"name": "x", "queues": 1e999}', "malformed: body: expected a JSON object in UTF-8; "),
    ],
)
def test_bodies_that_are_wrong_are_refused_with_words(body: bytes, problem: str, port: Port) -> None:
    assert port.ask("POST", "/topic", body, HEADERS).problem.startswith(problem)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": "application/jsonp"},
        {"Content-Type": JSON, "Content-Encoding": "gzip"},
    ],
)
def test_what_a_form_can_send_is_refused(headers: dict[str, str], port: Port) -> None:
    assert port.ask("POST", "/reset", b"{}", headers).problem.startswith("media-type: Content-Type: expected")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "192.0.2.7"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://[x"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/openapi.json", "/nowhere"])
def test_pages_reach_nothing(path: str, headers: dict[str, str], port: Port) -> None:
    assert port.ask("GET", path, None, headers).problem.startswith("foreign: ")
    answer = port.ask("OPTIONS", path, None, {**headers, "Access-Control-Request-Method": "POST"})
    assert answer.status == 403


def test_methods_that_are_not_offered_are_refused(port: Port) -> None:
    assert port.ask("GET", "/reset").problem == (
        "method: GET /reset: expected POST; what changes nothing is GET, all else POST"
    )
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert port.ask(method, "/now").status == 405


def test_a_body_that_is_too_large_is_refused(port: Port) -> None:
    body = b'{"topic": "orders", "body": "' + b"x" * LARGEST + b'"}'
    assert port.ask("POST", "/send", body, HEADERS).problem == (
        f"too-large: body: expected {LARGEST} bytes at most, got more"
    )


def test_a_query_is_for_get_and_names_each_parameter_once(port: Port) -> None:
    assert port.ask("POST", "/reset?x=1", b"{}", HEADERS).problem.startswith(
        "malformed: query: expected none"
    )
    assert "'topic' is given twice" in port.ask("GET", "/messages?topic=a&topic=b").problem
    assert "query: expected NAME=VALUE" in port.ask("GET", "/messages?topic=%ff").problem


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\x00\x00\x10\x00\x00\x00\x0c",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
        b"POST /reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        b"POST /reset HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    ],
    ids=range(7),
)
def test_what_is_no_request_is_refused(sent: bytes, port: Port) -> None:
    with socket.create_connection(("127.0.0.1", port.port), timeout=10) as connection:
        connection.sendall(sent)
        assert connection.recv(100).startswith(b"HTTP/1.1 4")
    assert port.get("/")["namesrv"]
