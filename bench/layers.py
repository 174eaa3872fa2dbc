"""Whether the scapy layers and the codec agree on generated frames: `python -m bench.layers [NUMBER [SEED]]`.

Not among the benchmarks of `python -m bench`: it measures agreement, not speed.
"""

from __future__ import annotations

import sys

from harness.program.chance import Chance, chance
from harness.trace.scapy_layers import BinaryHeader, Body, ExtField, Frame, JsonHeader
from harness.wire import Command, Serialization, decode, encode
from harness.wire.codes import LANGUAGE_NUMBERS, LANGUAGES

_ALPHABETS = ("abXY09./:-_%@", "\"\\\n\t\x01\x7f/<>&'", "é\u4f60\u2028\U0001f600\x85")
_EDGES = (0, 1, -1, 105, 2**15 - 1, -(2**15))
_WIDE = (*_EDGES, 2**31 - 1, -(2**31))


def main() -> None:
    """Prints of how many frames both say the same, and the first few on which they do not."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    source = chance("layers", sys.argv[2] if len(sys.argv) > 2 else "1")
    agreed = 0
    for _ in range(number):
        command = _command(source)
        if _agrees(command):
            agreed += 1
        elif number - agreed < 5:
            print(f"they differ on {command!r}")
    print(f"scapy layers and codec agree on {agreed} of {number} generated frames")


def _command(source: Chance) -> Command:
    """A command that survives the wire unchanged."""
    serialization = source.choice(list(Serialization))
    is_json = serialization is Serialization.JSON
    numbers = _WIDE if is_json else _EDGES
    ext = {_text(source): _text(source) for _ in range(source.randrange(7))}
    return Command(
        source.choice(numbers),
        ext=source.choice((None, {})) if is_json and not ext else ext or None,
        flag=source.choice(_WIDE),
        language=source.choice(LANGUAGES),
        opaque=source.randrange(-(2**31), 2**31),
        remark=_text(source) if source.randrange(2) else None,
        serialization=serialization,
        version=source.choice(numbers),
        body=source.randbytes(source.randrange(40)),
    )


def _text(source: Chance) -> str:
    alphabet = source.choice(_ALPHABETS)
    return "".join(source.choice(alphabet) for _ in range(1 + source.randrange(12)))


def _agrees(command: Command) -> bool:
    """Read alike, kept byte for byte, and built by the layers what the codec reads as the same command."""
    data = encode(command)
    frame = Frame(data)
    meaning = {
        "code": command.code,
        "extFields": command.ext,
        "flag": command.flag,
        "language": command.language,
        "opaque": command.opaque,
        "remark": command.remark,
        "version": command.version,
    }
    body = bytes(frame.body) if frame.body else b""
    whole = frame.values() == meaning and body == command.body and bytes(frame) == data
    return whole and decode(_built(command, meaning)) == command


def _built(command: Command, meaning: dict[str, object]) -> bytes:
    header: JsonHeader | BinaryHeader
    if command.serialization is Serialization.JSON:
        header = JsonHeader.of([(name, value) for name, value in meaning.items() if value is not None])
    else:
        ext = [ExtField(key=k.encode(), value=(v or "").encode()) for k, v in (command.ext or {}).items()]
        header = BinaryHeader(
            code=command.code,
            language=LANGUAGE_NUMBERS[command.language or "JAVA"],
            version=command.version,
            opaque=command.opaque,
            flag=command.flag,
            remark=(command.remark or "").encode(),
            ext=ext,
        )
    body = Body(data=command.body) if command.body else None
    return bytes(Frame(serialization=int(command.serialization), header=header, body=body))


if __name__ == "__main__":
    main()
