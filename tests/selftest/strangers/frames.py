"""Frames and bodies of a stranger's NameServer."""

from __future__ import annotations

import json
import re
import struct


class RefusalError(Exception):
    def __init__(self, code: int, remark: str) -> None:
        super().__init__(remark)
        self.code, self.remark = code, remark


def integer(text: str | None, default: int) -> int:
    """A number in a field; text that is none counts as absent."""
    return int(text) if text is not None and re.fullmatch(r"[+-]?\d+", text) else default


def short(text: str | None) -> int | None:
    """A number of 32 bits in a field; what is none counts as absent."""
    value = integer(text, 2**31)
    return value if -(2**31) <= value < 2**31 else None


def need(ext: dict, *names: str, number: str = "") -> list[str]:
    for name in names:
        if ext.get(name) is None:
            raise RefusalError(1, f"the custom field <{name}> is null")
    if number and not -(2**63) <= integer(ext.get(number), 2**63) < 2**63:
        raise RefusalError(1, f"the custom field <{number}> is null")
    return [ext[name] for name in names]


def parse(data: bytes) -> object:
    return lenient(re.sub(rb"([{,])\s*(-?\d+)\s*:", rb'\1"\2":', data).decode("utf-8"))


def lenient(text: str) -> object:
    """JSON whose texts may stand in single quotes."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(re.sub(r"'([^'\"\\]*)'", r'"\1"', text))


def plain(body: bytes, version: int) -> tuple[dict, list | None]:
    """Topics and filter servers. Senders older than 37 send the bare wrapper, and no filter servers."""
    try:
        parsed = parse(body)
    except ValueError as problem:
        raise RefusalError(1, str(problem)) from None
    if not isinstance(parsed, dict):
        raise RefusalError(1, "not an object")
    if version < 37:
        return parsed, None
    filters = parsed.get("filterServerList", [])
    return parsed.get("topicConfigSerializeWrapper") or {}, None if filters == "" else filters


def decompressed(raw: bytes) -> tuple[dict, list]:
    """Lengths are four bytes: data version, number of topics, each topic, filter servers, mappings."""
    at = 0

    def chunk() -> bytes:
        nonlocal at
        (size,) = struct.unpack_from(">i", raw, at)
        at += 4 + size
        return raw[at - size : at]

    try:
        version = json.loads(chunk())
        (count,) = struct.unpack_from(">i", raw, at)
        at += 4
        topics = {}
        for _ in range(count):
            words = chunk().decode("utf-8").split(" ")
            if len(words) < 5 or words[4] not in ("SINGLE_TAG", "MULTI_TAG"):
                raise ValueError(f"topic line: {words}")
            if None in map(short, words[1:4]):
                raise ValueError(f"numbers of the topic line: {words}")
            name, read, write, perm, kind = words[:5]
            topics[name] = {
                "topicName": name,
                "readQueueNums": int(read),
                "writeQueueNums": int(write),
                "perm": int(perm),
                "topicFilterType": kind,
            }
        filters = json.loads(chunk())
        mappings = {}
        if at < len(raw):
            (count,) = struct.unpack_from(">i", raw, at)
            at += 4
            for _ in range(count):
                mapping = parse(chunk())
                mappings[mapping["topic"]] = mapping
    except (ValueError, struct.error, KeyError) as problem:
        raise RefusalError(1, str(problem)) from None
    wrapper = {"dataVersion": version, "topicConfigTable": topics, "topicQueueMappingInfoMap": mappings}
    return wrapper | {"mappingDataVersion": {}}, filters


def dumped(value: dict, *, quoted: bool = True) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not quoted:
        text = re.sub(r'([{,])"(-?\d+)":', r"\1\2:", text)
    return text.encode()


def json_header(data: bytes) -> dict:
    found = lenient(data.decode("utf-8"))
    fields = found.get("extFields")
    if fields is not None and not isinstance(fields, dict):
        raise ValueError("extFields")
    ext = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in (fields or {}).items()
        if value is not None
    }
    numbers = {one: found.get(one) for one in ("code", "version", "opaque", "flag")}
    return {**{one: number(value) for one, value in numbers.items()}, "ext": ext}


def number(value: object) -> int:
    """A number of a header: absent is 0, text with digits counts, everything else is an error."""
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        value = int(value)
    if value is not None and (not isinstance(value, int) or not -(2**31) <= value < 2**31):
        raise ValueError(f"no number: {value!r}")
    return value or 0


def binary_header(data: bytes) -> dict:
    code, _, version, opaque, flag = struct.unpack_from(">hbhii", data)
    at, ext, end = 13, {}, len(data)

    def text(form: str) -> str | None:
        nonlocal at
        (size,) = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        if not 0 <= size <= end - at:
            raise ValueError("length")
        at += size
        return data[at - size : at].decode() if size else None

    text(">i")
    (length,) = struct.unpack_from(">i", data, at)
    at += 4
    if at + length > len(data):
        raise ValueError("length")
    end = at + length
    while at < end:
        key, value = text(">h"), text(">i")
        if key is not None and value is not None:
            ext[key] = value
    if at != end:
        raise ValueError("the ext fields are longer than they say")
    return {"code": code, "version": version, "opaque": opaque, "flag": flag, "ext": ext}


def encoded(kind: int, code: int, opaque: int, remark: str | None, ext: dict, body: bytes) -> bytes:
    if kind == 0:
        header: dict = {"code": code, "flag": 1, "language": "OTHER", "opaque": opaque, "version": 479}
        header["serializeTypeCurrentRPC"] = "JSON"
        if remark is not None:
            header["remark"] = remark
        if ext:
            header["extFields"] = ext
        data = json.dumps(header, ensure_ascii=False).encode("utf-8", "replace")
    else:
        words = (remark or "").encode()
        fields = b"".join(
            struct.pack(">h", len(key.encode()))
            + key.encode()
            + struct.pack(">i", len(value.encode()))
            + value.encode()
            for key, value in ext.items()
        )
        data = struct.pack(">hbhiii", code, 12, 479, opaque, 1, len(words)) + words
        data += struct.pack(">i", len(fields)) + fields
    return struct.pack(">iB", 4 + len(data) + len(body), kind) + len(data).to_bytes(3, "big") + data + body
