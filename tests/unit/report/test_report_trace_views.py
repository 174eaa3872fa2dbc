"""What is drawn and written from a trace: frames, hex dumps and the sequence diagram."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
import report_samples as samples
from jinja2 import UndefinedError
from markupsafe import Markup
from report_golden import check

from harness.report.diagram import sequence_diagram
from harness.report.frames import as_text, moments
from harness.report.hexdump import hexdump, plain_hexdump
from harness.report.templating import _environment
from harness.trace import Closed, Event, Note, Opened, Received, Sent


def received(data: bytes, at: float = 1.0) -> Received:
    return Received(real=at, protocol=at, connection=1, data=data)


def sent(data: bytes, at: float = 0.5, purpose: str = "case") -> Sent:
    return Sent(real=at, protocol=at, connection=1, data=data, purpose=purpose)  # type: ignore[arg-type]


def test_a_frame_is_the_same_however_it_came() -> None:
    whole = samples.frame(105, 1, topic="T") + samples.frame(106, 2)
    expected = ["GET_ROUTEINFO_BY_TOPIC (topic=T)", "GET_BROKER_CLUSTER_INFO"]
    for cut in range(len(whole) + 1):
        pieces = [sent(whole[:cut]), sent(whole[cut:])]
        assert [m.label for m in moments(pieces)] == expected
    assert [m.number for m in moments([sent(whole[n : n + 1]) for n in range(len(whole))])][-1] == len(
        whole
    ) - 1


def test_bytes_that_are_no_frame_are_shown_as_bytes() -> None:
    found = moments([received(b"HTTP/1.1 400 Bad Request\r\n"), received(b"more")])
    assert [m.kind for m in found] == ["bytes", "bytes"]
    assert found[0].label.startswith("26 bytes that are no frame: HTTP/1.1 400 Bad Request")
    undecodable = b"\x00\x00\x00\x08\x07\x00\x00\x00abcd"
    assert moments([received(undecodable)])[0].label.startswith("12 bytes that cannot be decoded")


def test_an_unfinished_frame_is_reported_when_its_connection_ends() -> None:
    half = samples.frame(0, 1, 1)[:20]
    end = Closed(real=2.0, protocol=2.0, connection=1, by="target", how="fin")
    assert [m.label for m in moments([received(half), end])] == [
        f"20 bytes of an unfinished frame: {half[:40]!r}"[:-1].replace("b'", "", 1),
        "the target closes connection 1",
    ]


def test_an_unsolicited_answer_is_marked() -> None:
    found = moments(
        [sent(samples.frame(106, 2)), received(samples.frame(0, 3, 1)), received(samples.frame(0, 2, 1))]
    )
    assert found[1].label == "SUCCESS · answers no question (opaque 3)"
    assert found[2].label == "SUCCESS"


def test_trace_as_text() -> None:
    check("trace.txt", as_text(samples.EVENTS, 9))


def test_diagram_golden() -> None:
    check("diagram.svg", sequence_diagram(samples.EVENTS, 9))


def test_a_diagram_is_xml_and_says_its_steps_in_words() -> None:
    root = ElementTree.fromstring(sequence_diagram(samples.EVENTS, 9))
    description = root.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert "from the target: #9 SUCCESS (decisive)" in description
    assert len(root.findall(".//*[@class='decisive']")) == 1


def test_a_diagram_of_nothing_is_a_diagram() -> None:
    root = ElementTree.fromstring(sequence_diagram([]))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.findall(".//*[@class='decisive']") == []


def test_hostile_text_stays_text_in_a_diagram() -> None:
    events: list[Event] = [
        Note(real=0.0, protocol=0.0, text=samples.HOSTILE.encode("utf-8", "replace").decode()),
        received(samples.frame(1, 1, 1)[:-1] + b"}"),
        received(b"</svg><script>alert(1)</script>"),
    ]
    drawing = sequence_diagram(events)
    ElementTree.fromstring(drawing)
    assert "<script" not in drawing


def test_upkeep_is_folded_and_counted() -> None:
    events: list[Event] = [Opened(real=0.0, protocol=0.0, connection=1, local="a:1", remote="b:2")]
    for number in range(20):
        events.append(sent(samples.frame(106, number), number, "keep-alive"))
        events.append(received(samples.frame(0, number, 1), number))
    events.append(sent(samples.frame(105, 99, topic="T"), 21.0))
    drawing = sequence_diagram(events)
    assert "40 frames of the harness&#39;s own" in drawing
    assert drawing.count("GET_BROKER_CLUSTER_INFO") == 0


def test_a_long_trace_is_cut_around_the_decisive_frame_and_says_so() -> None:
    events: list[Event] = [sent(samples.frame(106, number), float(number)) for number in range(500)]
    drawing = sequence_diagram(events, 250)
    assert "▲ decisive, #250" in drawing
    assert "205 rows before are not drawn, of 500 rows for 500 events" in drawing
    assert "235 rows after are not drawn, of 500 rows for 500 events" in drawing
    assert len(re.findall(r'class="arrow"', drawing)) == 60


def test_a_hex_dump_marks_the_decisive_bytes() -> None:
    data = bytes(range(48))
    dump = hexdump(data, 14, 18)
    assert dump.caption == "bytes 0–48 of 48; marked: 14–18"
    assert [(row.bytes[1], row.characters[1]) for row in dump.rows] == [
        ("0e 0f", "··"),
        ("10 11", "··"),
        ("", ""),
    ]
    plain = plain_hexdump(data, 14, 18).splitlines()
    assert [line[0] for line in plain[1:]] == [">", ">", " "]
    assert bytes.fromhex("".join(line[10:57] for line in plain[1:])) == data


def test_a_long_frame_is_shown_around_its_decisive_bytes() -> None:
    dump = hexdump(bytes(100_000), 50_000, 50_010)
    assert dump.caption == "bytes 49936–50704 of 100000; marked: 50000–50010"
    assert "the first 65536 of 100000 bytes" in plain_hexdump(bytes(100_000))


def test_a_hex_dump_of_nothing() -> None:
    assert hexdump(b"").caption == "bytes 0–0 of 0"


def shown(template: str, **values: object) -> str:
    return str(_environment().from_string(template).render(values))


def test_a_template_escapes_text_and_keeps_markup() -> None:
    made = shown(
        '<p class="{{ text }}">{{ text }}{{ markup }}</p>', text="<&\"'\n\x00", markup=Markup("<br>")
    )
    assert made == '<p class="&lt;&amp;&#34;&#39;\n\\x00">&lt;&amp;&#34;&#39;\n\\x00<br></p>'


def test_what_a_template_does_not_know_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        shown("{{ missing }}")
    with pytest.raises(TypeError):
        shown("{{ nothing }}", nothing=None)
