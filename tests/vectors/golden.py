"""The golden vectors: what Apache's own encoder made of given fields (fixtures/README.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from harness.wire import Command, Serialization
from harness.wire.fastjson import Engine, restated

FRAMES = Path(__file__).parents[2] / "fixtures" / "frames"


class Vector(NamedTuple):
    """One vector: `type` is "frame" or the Java class of a body, with `#flavour` where there are several."""

    release: str
    name: str
    type: str
    fields: dict[str, Any]
    data: bytes

    @property
    def is_v5(self) -> bool:
        return not self.release.startswith("4.")

    @property
    def engine(self) -> Engine:
        """What wrote it: Apache's lines of 5.4 and later have another JSON engine."""
        return "fastjson2" if self.release.startswith("5.5") else "fastjson"

    def written(self, text: bytes) -> bytes:
        """Bytes of ours as that engine writes the same value."""
        return restated(text) if self.engine == "fastjson2" else text

    def __str__(self) -> str:
        return f"{self.release}:{self.name}"


def load() -> list[Vector]:
    """All vectors of all releases."""
    vectors = []
    for path in sorted(FRAMES.glob("*.json")):
        document = json.loads(path.read_text("ascii"))
        vectors += [
            Vector(document["rocketmq"], v["name"], v["type"], v["fields"], bytes.fromhex(v["hex"]))
            for v in document["vectors"]
        ]
    return vectors


FRAME_VECTORS = [vector for vector in load() if vector.type == "frame"]
BODY_VECTORS = [vector for vector in load() if vector.type != "frame"]


def as_sent(fields: dict[str, Any]) -> Command:
    """The command whose fields were given to Apache's encoder."""
    return Command(
        code=fields["code"],
        opaque=fields["opaque"],
        flag=fields["flag"],
        language=fields["language"],
        version=fields["version"],
        remark=fields["remark"],
        ext=fields["ext"],
        body=bytes.fromhex(fields["body"]),
        serialization=Serialization[fields["serialization"]],
    )


def as_received(fields: dict[str, Any]) -> Command:
    """What is left of it: nulls go, a lone surrogate is `?`; ROCKETMQ has int16 numbers and no empty text."""
    command = as_sent(fields)
    if command.remark is not None:
        command.remark = command.remark.encode("utf-8", "replace").decode()
    if command.ext is not None:
        command.ext = {key: value for key, value in command.ext.items() if value is not None}
    if command.serialization is Serialization.ROCKETMQ:
        command.code = _int16(command.code)
        command.version = _int16(command.version)
        command.remark = command.remark or None
        command.ext = {key: value or None for key, value in (command.ext or {}).items()} or None
    return command


def _int16(number: int) -> int:
    return (number + 0x8000) % 0x10000 - 0x8000
