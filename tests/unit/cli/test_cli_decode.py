"""`decode` of what was captured and recorded: every command, whatever was lost on the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.cli import main
from harness.session import NameServerSession
from harness.targets import parse
from harness.trace import (
    Closed,
    Event,
    Header,
    Opened,
    Received,
    Sent,
    Trace,
    write_pcap,
    write_trace,
)
from harness.wire import Command, RequestCode, encode

ASKED = encode(
    Command(code=105, opaque=7, version=479, ext={"topic": "T"}, body=b"a body that no frame begins in")
)
ANSWER = encode(Command(code=17, flag=1, opaque=7, remark="none"))


def opened(number: int = 1) -> Opened:
    local, remote = f"10.0.0.1:{40_000 + number}", "10.0.0.2:9876"
    return Opened(real=0.0, protocol=0.0, connection=number, local=local, remote=remote)


def asked(data: bytes = ASKED, number: int = 1) -> Sent:
    return Sent(real=1.0, protocol=1.0, connection=number, data=data)


def answered(data: bytes = ANSWER, number: int = 1) -> Received:
    return Received(real=1.25, protocol=1.25, connection=number, data=data)


def capture(path: Path, *events: Event, without: Sequence[int] = ()) -> Path:
    """A capture of these events, without some of its packets."""
    write_pcap(path, Trace(Header(), events))
    data, at, kept = path.read_bytes(), 24, []
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at + 8 : at + 12], "little")
        kept.append(data[at:end])
        at = end
    left = [packet for number, packet in enumerate(kept) if number not in without]
    path.write_bytes(data[:24] + b"".join(left))
    return path


def decoded(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[dict[str, Any]]]:
    status = main(["decode", *map(str, arguments), "--json"])
    out = capsys.readouterr().out
    return status, [msgspec.json.decode(line) for line in out.splitlines()]


def commands(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(one["name"], one["opaque"], one["by"]) for one in lines if one["kind"] == "command"]


def troubles(lines: list[dict[str, Any]]) -> list[str]:
    return [one["text"] for one in lines if one["kind"] == "remark" and one["trouble"]]


PAIR = [("GET_ROUTEINFO_BY_TOPIC", 7, "us"), ("TOPIC_NOT_EXIST", 7, "target")]


def test_trace_capture_and_folder_show_the_same_session(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    instance = parse("builtin:5.3").start()
    with NameServerSession(instance, "5.3") as ns:
        ns.broker(topics=("A", "B")).register().outcome()
        ns.broker(topics=("C",)).register(compressed=True).outcome()
        ns.advance(60)
        ns.cluster().outcome()
    for name in ("one.pcap", "folder/one.trace"):
        (write_pcap if name.endswith("pcap") else write_trace)(tmp_path / name, ns.trace)
    told = [decoded(capsys, tmp_path / name) for name in ("one.pcap", "folder/one.trace", "folder")]
    assert {status for status, _ in told} == {0}
    assert commands(told[0][1]) == commands(told[1][1]) == commands(told[2][1])
    lines = [one for one in told[0][1] if one["kind"] == "command"]
    registrations = [one for one in lines if one["name"] == "REGISTER_BROKER"]
    topics = [
        topic["topicName"].partition("-")[0]
        for one in registrations
        for topic in one["body"]["topics"].values()
    ]
    assert topics == ["A", "B", "C"]
    responses = [one for one in lines if one["response"]]
    requests = [one["number"] for one in lines if not one["response"]]
    assert sorted(one["answers"] for one in responses) == requests
    totals = told[0][1][-1]
    assert totals["kind"] == "totals"
    assert totals["unanswered"] == []
    assert totals["commands"] == len(lines)


def test_people_read_who_asked_what_and_how_long_it_took(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = capture(tmp_path / "a.pcap", opened(), asked(), answered())
    assert main(["decode", str(path)]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert "10.0.0.1:40001 connects to 10.0.0.2:9876" in lines[0]
    assert "→ #1 GET_ROUTEINFO_BY_TOPIC 105 · opaque 7 · topic=T · body of 30 bytes" in lines[1]
    assert "← #2 TOPIC_NOT_EXIST · answers #1 after 250.000 ms · opaque 7 · remark none" in lines[2]
    assert "2 commands on 1 connections: 1 requests and 1 responses" in err


def test_a_capture_that_begins_in_a_body_finds_the_next_frame(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    events = (opened(), asked(b"?" * 3000 + ASKED), answered(), asked())
    status, lines = decoded(capsys, capture(tmp_path / "a.pcap", *events, without=(0, 1, 2, 3)))
    assert status == 0
    assert commands(lines) == [*PAIR, PAIR[0]]
    assert troubles(lines) == ["1540 bytes passed over, up to the next frame (bytes 0–1540)"]
    assert "captured from the middle on" in lines[0]["text"]


def test_packets_that_were_not_captured_cost_the_frames_in_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    large = encode(Command(code=103, opaque=1, body=bytes(4000)))
    path = capture(tmp_path / "a.pcap", opened(), asked(large), asked(), answered(), without=(4,))
    status, lines = decoded(capsys, path)
    assert status == 0
    # The hole is believed in at the end only: what answers comes first.
    assert commands(lines) == PAIR[::-1]
    told = troubles(lines)
    assert any(text.startswith("unfinished frame, bytes 0–1460") for text in told)
    assert "1460 bytes were not captured" in told
    assert lines[-1]["missing"] == 1460


def test_other_protocols_are_counted_unless_their_port_is_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    web = (opened(2), asked(b"GET / HTTP/1.1\r\n\r\n", 2))
    path = capture(tmp_path / "a.pcap", opened(), asked(), answered(), *web)
    status, lines = decoded(capsys, path)
    assert (status, commands(lines), lines[-1]["others"]) == (0, PAIR, 1)
    status, lines = decoded(capsys, path, "--port", 9876)
    assert status == 1  # Apache closes on it
    assert [text[:8] for text in troubles(lines)] == ["no frame", "18 bytes"]
    status, lines = decoded(capsys, path, "--port", 1)
    assert (status, commands(lines)) == (2, [])


def test_tls_is_said_and_what_to_do(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = capture(tmp_path / "a.pcap", opened(), asked(b"\x16\x03\x01\x00\x05hello"))
    status, lines = decoded(capsys, path)
    assert status == 2
    assert troubles(lines) == ["under TLS: what it carries cannot be read"]
    assert any("keylog" in note for note in lines[-1]["notes"])


def test_a_frame_that_breaks_the_format_is_shown_with_its_bytes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    broken = (8).to_bytes(4, "big") + b"\x07\x00\x00\x04abcd"
    write_trace(tmp_path / "a.trace", Trace(Header(), (opened(), asked(broken + ASKED))))
    status, lines = decoded(capsys, tmp_path / "a.trace")
    assert status == 1
    bad, good = [one for one in lines if one["kind"] == "command"]
    (problem,) = bad["diagnostics"]
    assert (problem["code"], problem["start"], problem["end"]) == ("serialize-type-unknown", 4, 5)
    assert (bad["valid"], good["start"], good["number"]) == (False, 12, 2)


def test_what_is_left_and_unanswered_at_the_end_is_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    end = Closed(real=2.0, protocol=2.0, connection=1, by="target", how="fin")
    events = (opened(), asked(), asked(ASKED[:9]), answered(ANSWER[:-1]), end)
    write_trace(tmp_path / "a.trace", Trace(Header(), events))
    _, lines = decoded(capsys, tmp_path / "a.trace")
    assert [text.partition(",")[0] for text in troubles(lines)] == ["unfinished frame", "unfinished frame"]
    assert lines[-1]["unanswered"] == [1]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: (path / "a.trace").write_bytes(b'{"event":"trace"}\n{"event":"no"}\n'), "line 2"),
        (lambda path: (path / "a.pcap").write_bytes(b"\xd4\xc3\xb2\xa1"), "expected a capture"),
        (lambda path: [(path / name).write_bytes(b"") for name in ("a.trace", "b.trace")], "found a.trace"),
        (lambda _: None, "expected one *.trace"),
    ],
)
def test_files_that_cannot_be_read_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, make: Any, says: str
) -> None:
    make(tmp_path)
    files = list(tmp_path.iterdir())
    assert main(["decode", str(files[0] if len(files) == 1 else tmp_path)]) == 3
    assert says in capsys.readouterr().err


def test_resynchronising_is_not_deceived_by_what_bodies_hold() -> None:
    from harness.wire import find_frame

    likely = b"\0\0\0\x20\0\0\0\x10{not a header"
    assert find_frame(likely * 3 + ASKED) == (len(likely) * 3, True)
    binary = encode(Command(code=RequestCode.REGISTER_BROKER, opaque=1, serialization=1))  # type: ignore[arg-type]
    assert find_frame(b"\0\0\0\x30\x01\0\0\x20" + b"\xff" * 40 + binary) == (48, True)
    assert find_frame(bytes(50))[1] is False
    assert find_frame(ASKED[:20]) == (0, False)
