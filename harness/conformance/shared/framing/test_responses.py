"""Chapter framing: responses, one-way requests and the stream."""

from __future__ import annotations

from harness.conformance import Containing, Matching, Reply, Silence, case
from harness.conformance.shared.frames import (
    OPAQUE,
    QUERY,
    binary_frame,
    binary_header,
    json_frame,
    query_header,
)
from harness.conformance.shared.framing.limits import INT32_MAX, INT32_MIN, LARGEST_LENGTH
from harness.conformance.shared.raw import (
    answered,
    serves,
)
from harness.session import BrokerSession, NameServerSession, Session
from harness.wire import (
    FLAG_ONEWAY,
    FLAG_RESPONSE,
    RawFrame,
    RequestCode,
    ResponseCode,
)

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR


# --- responses ------------------------------------------------------------------------------------------


@case(kills=["response-length-too-large", "response-length-too-small"])
def test_response_lengths_agree(ns: NameServerSession) -> None:
    connection = ns.connect()
    connection.call(RequestCode.GET_BROKER_CLUSTER_INFO) >> Reply(SUCCESS, Containing("clusterAddrTable"))
    connection.call(RequestCode.GET_BROKER_CLUSTER_INFO) >> Reply(SUCCESS, Containing("clusterAddrTable"))


@case(kills=["opaque-not-echoed", "opaque-without-sign"])
def test_opaque_is_echoed(peer: Session) -> None:
    for opaque in (0, 7, -1, INT32_MIN, INT32_MAX):
        peer.call(*peer.query, opaque=opaque) >> answered(peer)


@case(kills=["equal-opaques-answered-once"])
def test_equal_opaques_are_each_answered(peer: Session) -> None:
    connection = peer.connect()
    first = connection.send_raw(json_frame(query_header(peer.query)) * 3, opaque=OPAQUE)
    second, third = connection.answer_to(OPAQUE), connection.answer_to(OPAQUE)
    first >> answered(peer)
    second >> answered(peer)
    third >> answered(peer)


@case(kills=["responses-sent-twice"])
def test_one_answer_for_each_request(peer: Session) -> None:
    # What comes besides the answers that it waits for is judged in every case (harness.conformance.unasked).
    connection = peer.connect()
    connection.call(*peer.query) >> answered(peer)
    connection.call(*peer.bare_query) >> Reply(SUCCESS)
    connection.call(*peer.query, flag=FLAG_ONEWAY) >> Silence()
    connection.call(*peer.query) >> answered(peer)


@case(kills=["response-marked-oneway"])
def test_response_flag_is_one(peer: Session) -> None:
    peer.call(*peer.query) >> answered(peer, flag=FLAG_RESPONSE)


@case(kills=["flag-bits-echoed", "unknown-flag-bits-refused"])
def test_unknown_flag_bits_are_ignored(peer: Session) -> None:
    for flag in (4, 256, INT32_MAX - 3, INT32_MIN):
        peer.call(*peer.query, flag=flag) >> answered(peer, flag=FLAG_RESPONSE)


@case(kills=["opaque-as-text", "code-of-success-left-out"])
def test_header_numbers_are_integers(peer: Session) -> None:
    # Every header that comes is judged in every case (harness.conformance.mistyped).
    peer.call(*peer.bare_query) >> Reply(SUCCESS)
    peer.call(*peer.query) >> answered(peer)


@case(kills=["language-as-number"])
def test_header_texts_are_strings(peer: Session) -> None:
    peer.call(*peer.query) >> answered(peer)


@case("wire.framing.header-texts-are-strings", kills=["ext-values-without-quotes"])
def test_ext_values_of_a_nameserver_are_strings(ns: NameServerSession) -> None:
    """A boolean in the ext fields of a NameServer's answer is a JSON string."""
    ns.broker().query_version().changed >> Reply(SUCCESS, True)


@case("wire.framing.header-texts-are-strings", kills=["ext-values-without-quotes"])
def test_ext_values_of_a_broker_are_strings(bk: BrokerSession) -> None:
    """A number in the ext fields of a Broker's answer is a JSON string."""
    bk.max_offset(bk.topic(), 0).offset >> Reply(SUCCESS, 0)


@case(kills=["version-left-out"])
def test_header_is_complete(peer: Session) -> None:
    complete = Matching(r'^(?=.*"language":)(?=.*"serializeTypeCurrentRPC":)(?=.*"version":)')
    peer.call(*peer.bare_query) >> Reply(SUCCESS, header=complete)
    peer.call(*peer.query) >> answered(peer, header=complete)


@case(kills=["null-members-written"])
def test_absent_members_are_omitted(peer: Session) -> None:
    without_nulls = Matching(r'^(?!.*"(remark|extFields)":null)')
    peer.call(*peer.query) >> answered(peer, header=without_nulls)
    peer.call(*peer.bare_query) >> Reply(SUCCESS, header=without_nulls)


# --- one-way requests and stray responses ---------------------------------------------------------------


@case(kills=["oneway-not-executed"])
def test_oneway_is_executed(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(flag=FLAG_ONEWAY) >> Silence()
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, {0: broker.address})


@case(kills=["oneway-answered"])
def test_oneway_is_not_answered(peer: Session) -> None:
    connection = peer.connect()
    connection.call(*peer.query, flag=FLAG_ONEWAY) >> Silence()
    connection.call(*peer.query) >> answered(peer)


@case(kills=["failing-oneway-answered", "failing-oneway-closes"])
def test_failing_oneway_is_not_answered(ns: NameServerSession) -> None:
    connection = ns.connect()
    connection.call(RequestCode.REGISTER_BROKER, flag=FLAG_ONEWAY) >> Silence()
    connection.call(*QUERY) >> answered(ns)


@case(kills=["stray-response-closes", "responses-executed"])
def test_stray_response_is_ignored(peer: Session) -> None:
    connection = peer.connect()
    for flag in (FLAG_RESPONSE, FLAG_RESPONSE | FLAG_ONEWAY):
        connection.call(*peer.query, flag=flag) >> Silence()
    connection.call(*peer.query) >> answered(peer)


@case(kills=["responses-executed", "oneway-bit-first"])
def test_response_bit_outweighs_the_request(ns: NameServerSession) -> None:
    for flag in (FLAG_RESPONSE, FLAG_RESPONSE | FLAG_ONEWAY):
        broker = ns.broker()
        broker.register(flag=flag) >> Silence()
        ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


# --- the stream -----------------------------------------------------------------------------------------


@case(kills=["partial-frames-dropped"])
def test_fragments_are_reassembled(peer: Session) -> None:
    connection = peer.connect()
    frame = json_frame(query_header(peer.query))
    for at in range(len(frame) - 1):
        connection.write(frame[at : at + 1])
    connection.send_raw(frame[-1:], opaque=OPAQUE) >> answered(peer)


@case(kills=["one-frame-per-segment", "partial-frames-dropped"])
def test_segment_with_a_part_of_the_next_frame(peer: Session) -> None:
    connection = peer.connect()
    frame = json_frame(query_header(peer.query))
    half = len(frame) // 2
    connection.send_raw(frame + frame[:half], opaque=OPAQUE) >> answered(peer)
    connection.send_raw(frame[half:], opaque=OPAQUE) >> answered(peer)


@case(kills=["rest-of-a-length-word-begins-a-frame"])
def test_first_byte_may_come_alone(peer: Session) -> None:
    connection, number = peer.connect(), 1000
    frames = [json_frame(query_header(peer.query, opaque=f"{opaque}")) for opaque in range(number)]
    stream = b"".join(frames)
    connection.call(*peer.query) >> answered(peer)
    connection.write(stream[:1])
    peer.pause(0.01)
    answers = [connection.send_raw(stream[1:], opaque=0)]
    answers += [connection.answer_to(opaque) for opaque in range(1, number)]
    for answer in answers:
        answer >> answered(peer)


@case(kills=["last-byte-of-a-length-word-begins-a-frame"])
def test_length_word_may_be_cut_anywhere(peer: Session) -> None:
    # A length of 1280 ends in a zero, behind which the header's length looks like that of a short frame.
    bare = len(query_header(peer.query, remark='""'))
    padded = query_header(peer.query, remark=f'"{"x" * (1276 - bare)}"')
    frame = json_frame(padded)
    for cut in (1, 2, 3):
        connection = peer.connect()
        connection.call(*peer.query) >> answered(peer)
        connection.write(frame[:cut])
        peer.pause(0.01)
        connection.send_raw(frame[cut:], opaque=OPAQUE) >> answered(peer)
        connection.call(*peer.query) >> answered(peer)


@case(kills=["one-frame-per-segment"])
def test_requests_in_one_segment(peer: Session) -> None:
    connection = peer.connect()
    frames = [json_frame(query_header(peer.query, opaque=f"{opaque}")) for opaque in (OPAQUE, OPAQUE + 1)]
    first = connection.send_raw(b"".join(frames), opaque=OPAQUE)
    second = connection.answer_to(OPAQUE + 1)
    first >> answered(peer)
    second >> answered(peer)


@case(kills=["one-frame-per-segment"])
def test_pipelined_requests_are_all_answered(peer: Session) -> None:
    connection = peer.connect()
    for body in (b"", b"x" * 100_000):
        frames = [json_frame(query_header(peer.query, opaque=f"{opaque}"), body) for opaque in range(20)]
        answers = [connection.send_raw(b"".join(frames), opaque=0)]
        answers += [connection.answer_to(opaque) for opaque in range(1, 20)]
        for answer in answers:
            answer >> answered(peer)


@case(kills=["unanswered-frames-end-a-segment"])
def test_frames_without_an_answer_may_come_between(peer: Session) -> None:
    connection = peer.connect()
    unanswered = [
        json_frame(query_header(peer.query, flag=f"{flag}")) for flag in (FLAG_ONEWAY, FLAG_RESPONSE)
    ]
    frames = [json_frame(query_header(peer.query, opaque=f"{opaque}")) for opaque in range(3)]
    first = connection.send_raw(
        b"".join([*unanswered, frames[0], *unanswered, *frames[1:], *unanswered]), opaque=0
    )
    for answer in (first, connection.answer_to(1), connection.answer_to(2)):
        answer >> answered(peer)
    connection.call(*peer.query) >> answered(peer)


@case(kills=["small-frame-limit"])
def test_largest_length_is_accepted(peer: Session) -> None:
    header = query_header(peer.query).encode()
    serves(peer, RawFrame(header, bytes(LARGEST_LENGTH - 4 - len(header))).encode())


@case(kills=["header-length-of-16-bits"])
def test_header_longer_than_64_kib(peer: Session) -> None:
    remark = b"x" * 70_000
    serves(peer, json_frame(query_header(peer.query, remark=f'"{remark.decode()}"')))
    serves(peer, binary_frame(binary_header(peer.query, remark=remark)))


@case(kills=["every-body-parsed"])
def test_unused_body_is_ignored(peer: Session) -> None:
    peer.call(*peer.query, body=b"no JSON at all") >> answered(peer)
