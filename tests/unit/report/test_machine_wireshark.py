"""The dissector: its tables are the catalogue's, and Wireshark shows with it what `decode` shows.

What needs tshark is skipped where it is not installed.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Sequence
from pathlib import Path

import pytest
import tshark
from tls import under_tls
from vectors.golden import FRAME_VECTORS
from vectors.test_negative import ODD, REFUSED

from harness.catalogue import messages
from harness.session import BrokerSession, NameServerSession
from harness.targets import parse
from harness.trace import Closed, Event, Header, Opened, Received, Sent, Trace, write_pcap
from harness.wire import FRAME_LIMIT, Command, dissect, encode
from harness.wire.codes import LANGUAGES, RequestCode, ResponseCode

TEXT = tshark.SCRIPT.read_text("utf-8")
ASKED = encode(Command(105, opaque=7, version=479, ext={"topic": "T"}))
ANSWER = encode(Command(17, flag=1, opaque=7, version=479, remark="none"))


def table(name: str) -> str:
    found = re.search(rf"^local {name} = {{\n(.*?)^}}", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[1]


def named(name: str) -> dict[int, str]:
    return {int(code): text for code, text in re.findall(r'^  \[(\d+)\] = .*?"(\w+)"', table(name), re.M)}


def test_its_tables_are_those_of_the_catalogue() -> None:
    assert named("REQUESTS") == {one.value: one.name for one in RequestCode}
    assert named("RESPONSES") == {one.value: one.name for one in ResponseCode}
    assert named("LANGUAGES") == dict(enumerate(LANGUAGES))
    fields = re.findall(r'"(\w+)"', table("EXT_FIELDS"))
    assert fields == sorted(
        {member.name for one in messages().messages for member in (*one.request, *one.response)}
    )
    assert f"local FRAME_LIMIT = {FRAME_LIMIT}\n" in TEXT


class Exchange:
    """Connections whose bytes are written as a capture, each frame when it is said."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._now = 0.0
        self._connections = 0

    def connect(self, port: int = 9876, *, local_port: int = 0) -> int:
        self._connections += 1
        number = self._connections
        local, remote = f"10.0.0.1:{local_port or 40_000 + number}", f"10.0.0.2:{port}"
        self.events.append(
            Opened(real=self._now, protocol=self._now, connection=number, local=local, remote=remote)
        )
        return number

    def say(self, connection: int, *pieces: bytes, answer: bool = False) -> None:
        """Sends pieces one after the other, 250 ms apart."""
        kind = Received if answer else Sent
        for data in pieces:
            self._now += 0.25
            self.events.append(kind(real=self._now, protocol=self._now, connection=connection, data=data))

    def close(self, connection: int) -> None:
        at = self._now
        self.events.append(Closed(real=at, protocol=at, connection=connection, by="us", how="fin"))

    def write(self, path: Path) -> Path:
        write_pcap(path, Trace(Header(started=1e9), tuple(self.events)))
        return path


def each(frames: Sequence[bytes], path: Path, *, port: int = 9876, cut: int | None = None) -> Path:
    """A capture with a connection for each frame, which comes in pieces of ``cut`` bytes."""
    exchange = Exchange()
    for frame in frames:
        connection = exchange.connect(port)
        step = cut or len(frame) or 1
        exchange.say(connection, *(frame[at : at + step] for at in range(0, len(frame), step)))
        exchange.close(connection)
    return exchange.write(path)


GOLDEN = [vector.data for vector in FRAME_VECTORS]


@tshark.needed
@pytest.mark.parametrize(("port", "cut"), [(9876, 61), (33_333, None), (33_333, 61)])
def test_golden_frames_are_shown_as_decode_shows_them(tmp_path: Path, port: int, cut: int | None) -> None:
    capture = each(GOLDEN, tmp_path / "golden.pcap", port=port, cut=cut)
    found = tshark.dissected(capture)
    assert found == tshark.decoded(capture)
    assert len(found) == len(GOLDEN)


@tshark.needed
def test_the_same_codes_refuse_what_is_odd_or_not_served(tmp_path: Path) -> None:
    frames = [data for data, *_ in ODD.values()]
    capture = each(frames, tmp_path / "odd.pcap")
    assert tshark.dissected(capture) == tshark.decoded(capture)
    # Nothing is shown of bytes that are not there yet, nor of those behind a frame but as the next one.
    unseen = ("frame-truncated", "frame-trailing")
    refused = [data for data, code, _ in REFUSED.values() if code not in unseen]
    found = tshark.dissected(each(refused, tmp_path / "refused.pcap"))
    assert [one["problems"] for one in found] == [
        {problem.code for problem in dissect(data).diagnostics} for data in refused
    ]


@tshark.needed
def test_conversations_are_shown_as_decode_shows_them(tmp_path: Path) -> None:
    with NameServerSession(parse("builtin:5.3").start(), "5.3") as ns:
        ns.broker(topics=("A", "B")).register().outcome()
        ns.broker(topics=("C",)).register(compressed=True).outcome()
        ns.cluster().outcome()
        ns.call(105, {"topic": "none"}).outcome()
        ns.call(9999).outcome()
    with BrokerSession(parse("builtin:5.3", role="broker").start(), "5.3") as bk:
        bk.call(34, body=b'{"clientID":"c","consumerDataSet":[],"producerDataSet":[]}').outcome()
        bk.call(43).outcome()
    for number, session in enumerate((ns, bk)):
        write_pcap(tmp_path / f"{number}.pcap", session.trace)
        found = tshark.dissected(tmp_path / f"{number}.pcap")
        assert found == tshark.decoded(tmp_path / f"{number}.pcap")
        responses = [one for one in found if one["response"]]
        assert responses
        assert all(one["answers"] is not None for one in responses)


@tshark.needed
def test_responses_are_matched_by_connection_and_opaque(tmp_path: Path) -> None:
    exchange = Exchange()
    one, other = exchange.connect(), exchange.connect()
    exchange.say(one, ASKED)
    exchange.say(other, ASKED)
    exchange.say(other, ANSWER, answer=True)
    exchange.say(one, ANSWER, answer=True)
    exchange.say(one, ANSWER, answer=True)  # answers nothing any more
    # The other end asks too, with the same number; and two frames come at once.
    asks_back = encode(Command(40, flag=2, opaque=7, ext={"consumerGroup": "G"}))
    exchange.say(one, asks_back + asks_back, answer=True)
    exchange.say(one, ASKED + ASKED.replace(b'"opaque":7', b'"opaque":8'))
    exchange.say(one, ANSWER.replace(b'"opaque":7', b'"opaque":8') + ANSWER, answer=True)
    capture = exchange.write(tmp_path / "matched.pcap")
    found = tshark.dissected(capture)
    assert found == tshark.decoded(capture)
    assert [place["answers"] for place in found] == [None, None, 1, 0, None, None, None, None, None, 8, 7]
    shown = ("-Y", "rocketmq.response_to", "-T", "fields", "-e", "rocketmq.response_time")
    first, second, *_ = tshark.tshark("-r", capture, *shown).splitlines()
    assert float(first) == pytest.approx(0.25, abs=1e-4)
    assert float(second) == pytest.approx(0.75, abs=1e-4)


@tshark.needed
def test_what_people_read(tmp_path: Path) -> None:
    exchange = Exchange()
    connection = exchange.connect()
    exchange.say(connection, ASKED)
    exchange.say(connection, ANSWER, answer=True)
    exchange.say(connection, encode(Command(40, flag=2, opaque=9)), answer=True)
    exchange.say(connection, b"\0\0\0\2ab")
    capture = exchange.write(tmp_path / "read.pcap")
    said = tshark.tshark("-r", capture, "-Y", "rocketmq", "-T", "fields", "-e", "_ws.col.Info")
    assert [line.strip() for line in said.splitlines()] == [
        "105 GET_ROUTEINFO_BY_TOPIC, opaque 7",
        "17 TOPIC_NOT_EXIST of 105 GET_ROUTEINFO_BY_TOPIC, opaque 7",
        "40 NOTIFY_CONSUMER_IDS_CHANGED one-way, opaque 9",
        "a frame that cannot be decoded: length 2 cannot hold the header word",
    ]
    filters = {
        'rocketmq.ext.topic == "T"': 1,
        "rocketmq.request == 105": 2,
        "rocketmq.response == 1 and rocketmq.code != 0": 1,
        "rocketmq.oneway == 1": 1,
        "rocketmq.problem.length_too_small": 1,
        '_ws.expert.severity == "Error"': 1,
        'rocketmq.meaning == "No broker serves the topic."': 1,
    }
    counted = tshark.tshark("-r", capture, "-q", "-z", ",".join(["io,stat,0", *filters]))
    row = next(line for line in counted.splitlines() if "<>" in line)
    assert [int(number) for number in row.split("|")[2:-1:2]] == list(filters.values())


BODIES = {
    b'{"topicList":["T"]}': ["T"],
    b'{"brokerAddrs":{0:"10.0.0.1:10911"}}': ["10.0.0.1:10911"],
    b'{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:5}}': ["5"],
}


@tshark.needed
@pytest.mark.parametrize("body", BODIES)
def test_bodies_of_json_are_shown_as_json(tmp_path: Path, body: bytes) -> None:
    capture = each([encode(Command(0, flag=1, opaque=1, body=body))], tmp_path / "body.pcap")
    fields = ("-e", "json.value.string", "-e", "json.value.number", "-e", "_ws.malformed")
    said = tshark.tshark("-r", capture, "-Y", "rocketmq", "-T", "fields", *fields)
    assert [value for value in said.strip("\n").split("\t") if value] == BODIES[body]


@tshark.needed
def test_ports_are_a_preference_and_others_are_left_alone(tmp_path: Path) -> None:
    # Bytes that are no frame are wrong where frames are expected, and nothing of ours elsewhere.
    capture = each([b"\0\0\0\2ab" * 4], tmp_path / "other.pcap", port=9_999)
    shown = ("-Y", "rocketmq")
    assert tshark.tshark("-r", capture, *shown) == ""
    assert tshark.tshark("-r", capture, "-o", "rocketmq.ports:9990-9999", *shown) != ""
    assert tshark.tshark("-r", capture, "-d", "tcp.port==9999,rocketmq", *shown) != ""
    known = each([ASKED], tmp_path / "known.pcap", port=9_876)
    hidden = ("--disable-heuristic", "rocketmq_tcp", *shown)
    assert tshark.tshark("-r", known, *hidden) != ""
    assert tshark.tshark("-r", known, "-o", "rocketmq.ports:1", *hidden) == ""


@tshark.needed
@pytest.mark.parametrize(("port", "frames"), [(33_333, 0), (9876, 2)])
def test_a_client_s_port_may_be_that_of_another_protocol(tmp_path: Path, port: int, frames: int) -> None:
    exchange = Exchange()
    connection = exchange.connect(port, local_port=57_000)  # Wireshark's port of IRC
    exchange.say(connection, ASKED)
    exchange.say(connection, ANSWER, answer=True)
    capture = exchange.write(tmp_path / "irc.pcap")
    numbers = ("-r", capture, "-Y", "rocketmq", "-T", "fields", "-e", "frame.number")
    assert len(tshark.tshark(*numbers).split()) == frames
    assert len(tshark.tshark(*numbers, *tshark.FIRST_BYTES_FIRST).split()) == 2


@tshark.needed
@pytest.mark.parametrize(
    "version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=lambda one: one.name
)
@pytest.mark.parametrize("port", [9_876, 9_999])
def test_tls_is_left_to_wireshark(tmp_path: Path, version: ssl.TLSVersion, port: int) -> None:
    large = encode(Command(100, opaque=8, ext={"value": "v" * 40_000}))
    answers = {ASKED: ANSWER, large: encode(Command(0, flag=1, opaque=8))}
    seen, keys = under_tls(version, [*answers], answers.__getitem__, tmp_path, remote=f"10.0.0.2:{port}")
    events = tuple(one for one in seen if isinstance(one, Opened | Sent | Received | Closed))
    write_pcap(tmp_path / "tls.pcap", Trace(Header(), events))
    assert tshark.dissected(tmp_path / "tls.pcap") == []
    found = tshark.dissected(tmp_path / "tls.pcap", "-o", f"tls.keylog_file:{keys}")
    assert [(one["code"], one["answers"]) for one in found] == [(105, None), (17, 0), (100, None), (0, 2)]
    assert found[2]["ext"] == {"value": "v" * 40_000}
