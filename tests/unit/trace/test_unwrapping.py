"""What TLS carried comes out in clear where the key log has its secrets, and is not guessed at elsewhere."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from tls import under_tls

from harness.trace import Note, Received, Sent
from harness.trace.packets import CaptureError
from harness.trace.reassembly import Missing, Seen
from harness.trace.unwrapping import Unwrapping

pytest.importorskip("scapy.layers.tls.record", reason="scapy with cryptography is not installed")

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
QUESTIONS = [b"question", b"?" * 40_000, b"last"]


def answer(question: bytes) -> bytes:
    return b"answer to " + question[:8]


@pytest.fixture(params=list(VERSIONS))
def talk(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[Seen], Path]:
    """A handshake, then questions and as many answers; and its key log."""
    return under_tls(VERSIONS[request.param], QUESTIONS, answer, tmp_path)


def unwrapped(seen: list[Seen], keys: Path) -> list[Seen]:
    unwrapping = Unwrapping(keys)
    return [clear for one in seen for clear in unwrapping.add(one)]


def carried(seen: list[Seen], kind: type[Sent | Received]) -> bytes:
    return b"".join(one.data for one in seen if isinstance(one, kind))


def test_both_directions_come_out_in_clear(talk: tuple[list[Seen], Path]) -> None:
    seen, keys = talk
    clear = unwrapped(seen, keys)
    assert carried(clear, Sent) == b"".join(QUESTIONS)
    assert carried(clear, Received) == b"".join(map(answer, QUESTIONS))
    assert (clear[0], clear[-1]) == (seen[0], seen[-1])


def test_segments_may_be_cut_anywhere(talk: tuple[list[Seen], Path]) -> None:
    seen, keys = talk
    pieces: list[Seen] = []
    for one in seen:
        if isinstance(one, Sent | Received):
            kind = type(one)
            pieces += [
                kind(real=1, protocol=1, connection=1, data=one.data[at : at + 777])
                for at in range(0, len(one.data), 777)
            ]
        else:
            pieces.append(one)
    assert carried(unwrapped(pieces, keys), Sent) == b"".join(QUESTIONS)


def test_secrets_of_somebody_else_leave_everything_as_it_is(
    talk: tuple[list[Seen], Path], tmp_path: Path
) -> None:
    seen, _ = talk
    other = tmp_path / "other"
    other.write_text(f"CLIENT_RANDOM {'00' * 32} {'11' * 48}\n")
    assert carried(unwrapped(seen, other), Sent) == carried(seen, Sent)
    assert Unwrapping(other).decrypted == 0


def test_secrets_of_the_handshake_alone_do_not_do(tmp_path: Path) -> None:
    seen, keys = under_tls(VERSIONS["1.3"], QUESTIONS, answer, tmp_path)
    keys.write_text("".join(line for line in keys.open() if "HANDSHAKE" in line))
    clear = unwrapped(seen, keys)
    assert carried(clear, Sent) == b""
    assert [one.text.partition(":")[0] for one in clear if isinstance(one, Note)] == [
        "what follows under TLS cannot be decrypted"
    ]


def test_after_a_hole_nothing_is_guessed_at(talk: tuple[list[Seen], Path]) -> None:
    seen, keys = talk
    hole = Missing(real=1, protocol=1, connection=1, by="us", length=100)
    clear = unwrapped([*seen[:-2], hole, *seen[-2:]], keys)
    assert carried(clear, Sent) == b"".join(QUESTIONS)
    assert not any(isinstance(one, Missing) for one in clear)
    assert sum(isinstance(one, Note) for one in clear) == 1
    assert clear[-1] == seen[-1]


def test_what_is_no_record_is_reported_once(talk: tuple[list[Seen], Path]) -> None:
    seen, keys = talk
    at = max(number for number, one in enumerate(seen) if isinstance(one, Sent))
    short = Sent(real=1, protocol=1, connection=1, data=b"GET / HTTP/1.1")
    clear = unwrapped([*seen[:at], short, *seen[at:]], keys)
    assert carried(clear, Sent) == b"".join(QUESTIONS[:-1])
    assert sum(isinstance(one, Note) for one in clear) == 1


def test_what_is_not_tls_passes(talk: tuple[list[Seen], Path]) -> None:
    _, keys = talk
    plain = Sent(real=1, protocol=1, connection=2, data=b"plain")
    assert unwrapped([plain], keys) == [plain]


@pytest.mark.parametrize("content", ["", "# nothing\n", "no key log at all\n", "CLIENT_RANDOM zz 00\n"])
def test_a_file_that_is_no_key_log_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(content)
    with pytest.raises(CaptureError, match="expected a key log"):
        Unwrapping(tmp_path / "keys")


def test_a_key_log_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="cannot be read: No such file"):
        Unwrapping(tmp_path / "keys")
