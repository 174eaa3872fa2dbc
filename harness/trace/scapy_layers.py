"""Layers for scapy: a second description of the format, written from facts and not from our codec.

- It imports nothing of ours; `harness.wire` and it describe the same format independently, and tests hold
  them against each other (tests/vectors/test_scapy_layers.py).
- scapy is in the extra ``pcap``; beside this module only `harness.trace.packets` imports it.
- Lengths that are None are computed when a frame is built; a length that is given is written as it is, right
  or wrong. What was dissected and not changed is built to the same bytes again, whatever they are.
- It describes the format; what a server does with a frame that breaks it, `harness.wire.dissect` says.

Sources: `RemotingCommand#encode`, `#markProtocolType`, `RocketMQSerializable`; bodies of REGISTER_BROKER
(103) are deflated where the ext field ``compressed`` is true (`RegisterBrokerBody#encode`).
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any, ClassVar, Final, TypeAlias

from scapy.fields import (
    AnyField,
    ByteEnumField,
    FieldLenField,
    PacketField,
    PacketListField,
    SignedIntField,
    SignedShortField,
    StrField,
    StrLenField,
    ThreeBytesField,
)
from scapy.layers.inet import TCP
from scapy.packet import Packet, Raw, bind_layers

PORT: Final = 9876
"""The port that a NameServer listens on where nothing else is said (`NamesrvStartup`)."""

Members: TypeAlias = Sequence[tuple[str, Any]]
"""Members of a JSON object in their order; a name may be there twice."""

_JSON, _ROCKETMQ = 0, 1
_REGISTER_BROKER: Final = 103
_LARGEST: Final = 16_777_216 - 4
_INFLATED_LIMIT: Final = 64 * 1024 * 1024
_LANGUAGES: Final = dict(
    enumerate(
        "JAVA CPP DOTNET PYTHON DELPHI ERLANG RUBY OTHER HTTP GO PHP OMS RUST NODE_JS".split()  # noqa: SIM905
    )
)


class ExtField(Packet):
    """An entry of the map of a binary header: 2 bytes of length and a key, 4 bytes of length and a value."""

    name = "ext field"
    fields_desc: ClassVar[list[AnyField]] = [
        FieldLenField("key_length", None, length_of="key", fmt="!H"),
        StrLenField("key", b"", length_from=lambda entry: entry.key_length),
        FieldLenField("value_length", None, length_of="value", fmt="!I"),
        StrLenField("value", b"", length_from=lambda entry: entry.value_length),
    ]

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        return b"", s  # what follows an entry is the next one


class BinaryHeader(Packet):
    """The ROCKETMQ header: 21 bytes, the remark and the map. A length of 0 is a null."""

    name = "ROCKETMQ header"
    fields_desc: ClassVar[list[AnyField]] = [
        SignedShortField("code", 0),
        ByteEnumField("language", 0, _LANGUAGES),
        SignedShortField("version", 0),
        SignedIntField("opaque", 0),
        SignedIntField("flag", 0),
        FieldLenField("remark_length", None, length_of="remark", fmt="!I"),
        StrLenField("remark", b"", length_from=lambda header: header.remark_length),
        FieldLenField("ext_length", None, length_of="ext", fmt="!I"),
        PacketListField("ext", [], ExtField, length_from=lambda header: header.ext_length),
        StrField("spare", b""),  # what no field accounts for
    ]

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        return b"", s

    def values(self) -> dict[str, Any]:
        """The members as JSON names them; null is None, and of a key that is there twice the last counts."""
        ext = {_text(entry.key): _text(entry.value) or None for entry in self.ext}
        return {
            "code": self.code,
            "extFields": ext or None,
            "flag": self.flag,
            "language": _LANGUAGES.get(self.language),
            "opaque": self.opaque,
            "remark": _text(self.remark) or None,
            "version": self.version,
        }


class JsonHeader(Packet):
    """The JSON header: one object, in UTF-8."""

    name = "JSON header"
    fields_desc: ClassVar[list[AnyField]] = [StrField("text", b"{}")]

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        return b"", s

    @classmethod
    def of(cls, members: Members) -> JsonHeader:
        """A header with these members in this order."""
        text = ",".join(
            f"{json.dumps(name, ensure_ascii=False)}:"
            f"{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
            for name, value in members
        )
        return cls(text=f"{{{text}}}".encode("utf-8", "replace"))

    def values(self) -> dict[str, Any]:
        """The members; of a name that is there twice the last counts. Empty where the text is no JSON object.

        Entries of ``extFields`` that are null are as absent.
        """
        try:
            found = json.loads(self.text)
        except ValueError:
            return {}
        if not isinstance(found, dict):
            return {}
        named = {
            name: found.get(name)
            for name in ("code", "extFields", "flag", "language", "opaque", "remark", "version")
        }
        ext = named["extFields"]
        if isinstance(ext, dict):
            named["extFields"] = {name: value for name, value in ext.items() if value is not None}
        return named


class Body(Packet):
    """Bytes that mean something to the request code."""

    name = "body"
    fields_desc: ClassVar[list[AnyField]] = [StrField("data", b"")]


class _DeflatedField(StrField):
    """Text that is deflated (zlib) on the wire; what cannot be inflated is kept as it is."""

    def m2i(self, pkt: Packet | None, x: bytes) -> bytes:
        inflating = zlib.decompressobj()
        try:
            found = inflating.decompress(x, _INFLATED_LIMIT)
        except zlib.error:
            return x
        return x if inflating.unconsumed_tail or not inflating.eof else found

    def i2m(self, pkt: Packet | None, x: Any) -> bytes:
        return zlib.compress(bytes(x or b""))


class DeflatedBody(Packet):
    """The body of a registration that says that it is compressed. ``data`` is what was compressed."""

    name = "deflated body"
    fields_desc: ClassVar[list[AnyField]] = [_DeflatedField("data", b"")]


def _header_of(data: bytes, parent: Frame) -> Packet:
    kind = {_JSON: JsonHeader, _ROCKETMQ: BinaryHeader}.get(parent.serialization, Raw)
    try:
        return kind(data)
    except struct.error:  # it ends within a number
        return Raw(data)


def _body_of(data: bytes, parent: Frame) -> Packet:
    values = parent.values()
    ext = values.get("extFields")
    deflated = isinstance(ext, dict) and str(ext.get("compressed")).lower() == "true"
    return (DeflatedBody if deflated and values["code"] == _REGISTER_BROKER else Body)(data)


class _PartField(PacketField):
    """A part of a frame whose kind the frame knows, and whose length."""

    __slots__ = ["_kind", "_length"]

    def __init__(self, name: str, kind: Any, length: Any) -> None:
        super().__init__(name, None, Packet)
        self._kind = kind
        self._length = length

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, Packet | None]:  # type: ignore[override]
        size = max(0, self._length(pkt))
        return s[size:], self._kind(s[:size], pkt) if s[:size] else None

    def i2m(self, pkt: Packet | None, i: Any) -> bytes:
        return b"" if i is None else bytes(i)


class Frame(Packet):
    """One frame: length word, serialization and header length, header, body.

    ``length`` counts what follows it. ``header`` is a `JsonHeader`, a `BinaryHeader` or, where it is
    neither, `Raw`; ``body`` is None where there is none. The next frame of a stream is the payload.
    """

    name = "RocketMQ"
    fields_desc: ClassVar[list[AnyField]] = [
        SignedIntField("length", None),  # type: ignore[arg-type]
        ByteEnumField("serialization", _JSON, {_JSON: "JSON", _ROCKETMQ: "ROCKETMQ"}),
        ThreeBytesField("header_length", None),  # type: ignore[arg-type]
        _PartField("header", _header_of, lambda frame: min(frame.header_length, frame.length - 4)),
        _PartField("body", _body_of, lambda frame: frame.length - 4 - frame.header_length),
    ]

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        length, header_length = pkt[:4], pkt[5:8]
        if self.length is None:
            length = (len(pkt) - 4).to_bytes(4, "big")
        if self.header_length is None:
            header_length = (len(bytes(self.header or b"")) & 0xFFFFFF).to_bytes(3, "big")
        return length + pkt[4:5] + header_length + pkt[8:] + pay

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return Frame if len(payload) >= 8 else Raw

    def values(self) -> dict[str, Any]:
        """What the header says, by the names that JSON gives its members."""
        header = self.header
        return header.values() if isinstance(header, JsonHeader | BinaryHeader) else {}

    @classmethod
    def tcp_reassemble(
        cls, data: bytes, _metadata: dict[str, Any], _session: dict[str, Any]
    ) -> Packet | None:
        """For scapy's ``TCPSession``: the frames, as soon as one is whole; a bad length word is not waited
        for.
        """
        if len(data) < 4:
            return None
        length = int.from_bytes(data[:4], "big", signed=True)
        if 4 <= length <= _LARGEST and len(data) < 4 + length:
            return None
        return cls(data)


def cut(data: bytes) -> tuple[list[Frame], bytes]:
    """The whole frames at the beginning of a stream, each alone, and the bytes that are left.

    It stops at a length word that cannot be.
    """
    found = []
    while len(data) >= 4:
        length = int.from_bytes(data[:4], "big", signed=True)
        if not 4 <= length <= _LARGEST or len(data) < 4 + length:
            break
        found.append(Frame(data[: 4 + length]))
        data = data[4 + length :]
    return found, data


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


bind_layers(TCP, Frame, dport=PORT)
bind_layers(TCP, Frame, sport=PORT)
