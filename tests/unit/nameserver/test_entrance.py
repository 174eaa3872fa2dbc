"""What a connection goes through before its bytes are frames, however they are cut; and idle limits."""

from __future__ import annotations

import itertools
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire import Command, FrameBuffer, RequestCode, WireError, decode, encode
from reference_impl.certificates import certificates_for
from reference_impl.nameserver import Close, Config, ConfigError, Send, build
from reference_impl.remoting.preamble import SIGNATURE_V2, length_of_preamble

LINE = b"PROXY TCP4 192.0.2.7 198.51.100.9 40000 9876\r\n"
HEADER = SIGNATURE_V2 + b"\x21\x11\x00\x14" + bytes(12) + b"\xea\x00\x05vpc-1"
QUERY = encode(Command(code=RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, opaque=7))


@pytest.mark.parametrize(
    ("start", "length"),
    [
        (LINE + QUERY, len(LINE)),
        (b"PROXY UNKNOWN\r\n", 15),
        (b"PROXY UNKNOWN " + b"x" * 94 + b"\r\n", 110),
        (LINE[:-1], None),
        (b"PROXY UNKNOWN " + b"x" * 94, None),
        (HEADER + QUERY, len(HEADER)),
        (HEADER[:15], None),
        (HEADER[:-1], None),
        (QUERY, 0),
        (b"PROX" + bytes(8), 0),
    ],
)
def test_the_length_of_a_preamble(start: bytes, length: int | None) -> None:
    assert length_of_preamble(start) == length


@pytest.mark.parametrize(
    "start",
    [
        b"PROXY\r\n" + bytes(8),
        b"PROXYTCP4 1.2.3.4 1.2.3.5 1 2\r\n",
        b"PROXY TCP4 1.2.3.4 1.2.3.5 1\r\n",
        b"PROXY TCP4 1.2.3.4 1.2.3.5 0 1\r\n",
        b"PROXY TCP4 1.2.3.4 ::1 1 2\r\n",
        b"PROXY TCP4 1.2.3.4 \xff 1 2\r\n",
        b"PROXY UNKNOWN " + b"x" * 94 + b"\r",
        SIGNATURE_V2 + b"\x31\x11\x00\x0c" + bytes(12),
        SIGNATURE_V2 + b"\x22\x11\x00\x0c" + bytes(12),
        SIGNATURE_V2 + b"\x21\x41\x00\x0c" + bytes(12),
        SIGNATURE_V2 + b"\x21\x13\x00\x0c" + bytes(12),
        SIGNATURE_V2 + b"\x21\x11\x00\x0b" + bytes(12),
    ],
)
def test_a_malformed_preamble_is_refused(start: bytes) -> None:
    with pytest.raises(WireError):
        length_of_preamble(start)


@given(cuts=st.lists(st.integers(0, len(LINE) + len(QUERY))), preamble=st.sampled_from([b"", LINE, HEADER]))
def test_the_answer_does_not_depend_on_how_the_stream_is_cut(cuts: list[int], preamble: bytes) -> None:
    endpoint = build("5.3")
    endpoint.connected(1, "p", 0)
    stream, answered = preamble + QUERY, b""
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    for start, end in itertools.pairwise(edges):
        for effect in endpoint.received(1, stream[start:end], 0):
            assert isinstance(effect, Send)
            answered += effect.data
    assert decode(answered).opaque == 7


class Client:
    """The other end of TLS, against an endpoint."""

    def __init__(self, profile: str = "5.3", **pairs: str) -> None:
        config = Config.of({"tls.server.mode": "permissive", **pairs}, profile)
        self.endpoint = build(profile, config=config, certificates=certificates_for(config.file, print))
        self.endpoint.connected(1, "p", 0)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.arrived, self.leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.arrived, self.leaving)
        self.is_closed = False

    def exchange(self, step: int) -> None:
        """Carry what was written to the endpoint, `step` bytes at a time, and its answers back."""
        data = self.leaving.read()
        for at in range(0, len(data), step):
            self.deliver(data[at : at + step])

    def deliver(self, data: bytes) -> None:
        for effect in self.endpoint.received(1, data, 0):
            if isinstance(effect, Send):
                self.arrived.write(effect.data)
            self.is_closed |= isinstance(effect, Close)

    def shake(self, step: int = 1 << 20) -> None:
        for _ in range(10):
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                self.exchange(step)
            else:
                self.exchange(step)
                return
        pytest.fail("no handshake")

    def read(self) -> bytes:
        data = b""
        try:
            while part := self.tls.read():
                data += part
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass
        return data


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_tls_in_pieces(step: int) -> None:
    client = Client()
    client.shake(step)
    client.tls.write(QUERY * 3)
    client.exchange(step)
    buffer = FrameBuffer()
    buffer.feed(client.read())
    assert [decode(frame).opaque for frame in iter(buffer.next_frame, None)] == [7, 7, 7]


def test_what_came_with_the_end_of_tls_is_answered() -> None:
    client = Client()
    client.shake()
    client.tls.write(QUERY)
    with pytest.raises(ssl.SSLError):
        client.tls.unwrap()
    client.exchange(1 << 20)
    assert client.is_closed


def test_what_is_no_tls_closes() -> None:
    client = Client()
    client.deliver(b"\x16\x03\x01\x00\x05" + bytes(64))
    assert client.is_closed


@pytest.mark.parametrize(
    ("mode", "first"), [("enforcing", QUERY), ("disabled", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\0")]
)
def test_a_mode_that_does_not_fit_closes(mode: str, first: bytes) -> None:
    client = Client(**{"tls.server.mode": mode})
    client.deliver(first)
    assert client.is_closed


@pytest.mark.parametrize("pairs", [{"tls.server.mode": "on"}, {"tls.test.mode.enable": "maybe"}])
def test_a_bad_setting_of_tls_is_refused(pairs: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="expected"):
        build("5.3", config=Config.of(pairs))
