"""`rmq-harness remarks`: what it reads, prints and ends with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import main
from harness.trace import Closed, Header, Opened, Received, Sent, Trace, write_pcap, write_trace
from harness.wire import FLAG_RESPONSE, Command, RequestCode, encode
from harness.wire.versions import V5_3_3

SERVER = "127.0.0.1:10911"
STATEMENT = "A client MUST name the release that it speaks in every header, as a number greater than zero."
HEADERS = "cl.requests.header-names-its-version"


def trace(*requests: Command, target: str = SERVER, started: float = 0.0) -> Trace:
    """A client that asks a server, one request each second, and gets SUCCESS."""
    events: list[Opened | Sent | Received | Closed] = [
        Opened(real=0, protocol=0, connection=1, local="127.0.0.1:50000", remote=target)
    ]
    for second, one in enumerate(requests):
        answer = Command(0, opaque=one.opaque, flag=FLAG_RESPONSE, version=V5_3_3)
        at = {"real": float(second), "protocol": float(second), "connection": 1}
        events += [Sent(**at, data=encode(one)), Received(**at, data=encode(answer))]  # type: ignore[arg-type]
    return Trace(Header(started=started), tuple(events))


def route(opaque: int = 1, version: int = V5_3_3) -> Command:
    ext: dict[str, str | None] = {"topic": "orders"}
    return Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, opaque=opaque, version=version, ext=ext)


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    path = tmp_path / "faulty" / "server.trace"
    write_trace(path, trace(route(1, 0), route(2, 0)))
    return path


def test_a_remark_is_printed_with_its_evidence(faulty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["remarks", str(faulty)]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "127.0.0.1:50000: sent a header with version 0 (2 times)",
        f"  MUST: {STATEMENT} ({HEADERS})",
        "         0.000  c1 → 105 GET_ROUTEINFO_BY_TOPIC opaque 1 topic=orders",
        "",
    ]
    assert said.err == "1 remark on 1 client, which sent 2 requests\n"


def test_a_folder_holds_the_traces_of_all_servers(faulty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trace(faulty.with_name("other.trace"), trace(route(), target="127.0.0.1:9876"))
    assert main(["remarks", str(faulty.parent)]) == 1
    assert "which sent 3 requests" in capsys.readouterr().err


def test_a_program_gets_an_object_for_each_remark(faulty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["remarks", str(faulty), "--json"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    remark = json.loads(line)
    assert (remark["statement"], remark["level"], remark["times"]) == (HEADERS, "MUST", 2)
    assert bytes.fromhex(remark["evidence"][0]["frame"]) == encode(route(1, 0))


def test_a_capture_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "seen.pcap"
    write_pcap(path, trace(route(1, 0)))
    assert main(["remarks", str(path)]) == 1
    assert main(["remarks", str(path), "--port", "9876"]) == 2
    assert "no request of a client was seen" in capsys.readouterr().err


def test_a_client_without_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trace(tmp_path / "server.trace", trace(route()))
    assert main(["remarks", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "no remark on 1 client, which sent 1 request\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "required: FILE"),
        (("missing.trace",), "missing.trace cannot be read (No such file or directory); expected a trace"),
        ((".",), "is a folder; expected traces (*.trace) in it, found none"),
        (("text",), "expected the header of a trace"),
    ],
)
def test_what_cannot_be_read(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("no trace\n")
    assert main(["remarks", *words]) == 3
    assert said in capsys.readouterr().err


def test_a_check_of_a_server_says_what_judges_clients(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "builtin:5.3", "--select", "cl.routes"]) == 2
    assert "clients are judged by `rmq-harness remarks FILE`" in capsys.readouterr().err
