"""Chapter framing: idle connections."""

from __future__ import annotations

from harness.conformance import Closed, case
from harness.conformance.shared.frames import (
    json_frame,
    query_header,
)
from harness.conformance.shared.raw import (
    answered,
    warmed,
)
from harness.session import TermSession
from harness.wire import (
    FLAG_ONEWAY,
    FLAG_RESPONSE,
    ResponseCode,
)

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR


@case(kills=["idle-closed-early", "idle-closed-late"], clock=True)
def test_idle_connection_is_closed(peer: TermSession) -> None:
    began = peer.mark()
    asking, silent = warmed(peer), warmed(peer)
    peer.advance_short_of(peer.profile.idle - 1, began, idle=(asking, silent))
    asking.call(*peer.query) >> answered(peer)
    peer.advance_past(peer.profile.idle, began, idle=(silent,))
    silent.call(*peer.query) >> Closed()


@case(kills=["idle-never-closed", "idle-closed-late"], clock=True)
def test_silent_connection_is_closed(peer: TermSession) -> None:
    connection = peer.connect()
    peer.advance_past(peer.profile.idle, idle=(connection,))
    connection.call(*peer.query) >> Closed()


@case(kills=["idle-unless-answered"], clock=True)
def test_oneway_traffic_keeps_a_connection(peer: TermSession) -> None:
    connection = warmed(peer)
    for _ in range(3):
        connection.write(json_frame(query_header(peer.query, flag=f"{FLAG_ONEWAY}")))
        peer.advance(45, idle=(connection,))
    connection.call(*peer.query) >> answered(peer)


@case(kills=["idle-unless-answered"], clock=True)
def test_stray_responses_keep_a_connection(peer: TermSession) -> None:
    connection = warmed(peer)
    for _ in range(3):
        connection.write(json_frame(query_header(peer.query, flag=f"{FLAG_RESPONSE}")))
        peer.advance(45, idle=(connection,))
    connection.call(*peer.query) >> answered(peer)


@case(kills=["idle-counts-bytes"], clock=True)
def test_partial_frame_does_not_keep_a_connection(peer: TermSession) -> None:
    connection = warmed(peer)
    began = peer.mark()
    frame = json_frame(query_header(peer.query))
    for at in range(5):
        connection.write(frame[at : at + 1])
        peer.advance(20, idle=(connection,))
    peer.advance_past(peer.profile.idle, began, idle=(connection,))
    connection.send_raw(frame[5:]) >> Closed()
