"""`specs/messages/` says what codec, session and reference do: it cannot drift away from them."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

import harness.session
import reference_impl.nameserver
from harness.catalogue import CatalogueProblems, Layout, load_messages, messages, specs_directory
from harness.conformance.nameserver.settings import CONTROLLER
from harness.report import wire_codes
from harness.report.docs import stale
from harness.report.layouts import walk
from harness.targets.settings import with_controller
from harness.wire import Command, ResponseCode, Serialization, bodies, codes, encode
from harness.wire.codes import LANGUAGES
from reference_impl.nameserver import build
from reference_impl.nameserver.config import NOT_IN_49, Config
from reference_impl.nameserver.parts import PARTS
from reference_impl.remoting.tls_settings import TLS_KEYS

MESSAGES = messages()
NS = MESSAGES.of("nameserver")
ALL = tuple(PARTS)
BY_CODE = {message.code: message for message in MESSAGES.messages}
STRUCTS: dict[str, type[msgspec.Struct]] = {
    "TopicRouteData": bodies.TopicRoute,
    "BrokerData": bodies.BrokerData,
    "QueueData": bodies.QueueData,
    "ClusterInfo": bodies.ClusterInfo,
    "TopicList": bodies.TopicList,
    "KVTable": bodies.KvTable,
    "DataVersion": bodies.DataVersion,
    "BrokerMemberGroup": bodies.BrokerMemberGroup,
    "TopicConfig": bodies.TopicConfig,
    "TopicQueueMappingInfo": bodies.TopicQueueMappingInfo,
}


def layout(name: str) -> Layout:
    return next(one for one in MESSAGES.layouts if one.name == name)


def members(name: str) -> dict[str, Any]:
    return {one.name: one for one in next(body for body in MESSAGES.bodies if body.name == name).members}


# --- numbers that have names ------------------------------------------------------------------------------


def test_the_codec_has_the_codes_of_the_catalogue() -> None:
    assert stale(wire_codes.render(MESSAGES), Path(codes.__file__).parent) == []


def test_answers_have_known_codes() -> None:
    assert {code for one in MESSAGES.messages for code in one.codes} <= {one.value for one in ResponseCode}


def test_languages_and_serializations() -> None:
    header = MESSAGES.header
    assert header.languages == LANGUAGES
    assert {one.number: one.name for one in header.serializations} == {s.value: s.name for s in Serialization}


@pytest.mark.parametrize("profile", ALL)
def test_a_profile_knows_the_codes_that_are_said_to_be_in_it(profile: str) -> None:
    said = {one.code for one in NS if profile in (one.profiles or ALL) and not one.sent}
    config = Config.of(with_controller(dict(CONTROLLER), 9876), profile)
    endpoint = build(profile, config=config)
    served = set(endpoint.nameserver.handlers)
    if endpoint.controller is not None:
        served |= set(endpoint.controller.handlers)
    assert said == served


# --- fields and members -----------------------------------------------------------------------------------


def _written(place: Any, function: str) -> set[str]:
    """Names that are keywords of calls of a function, in the modules of a package."""
    found: set[str] = set()
    for path in sorted(Path(place.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == function:
                found |= {keyword.arg for keyword in node.keywords if keyword.arg is not None}
    return found


def test_every_field_that_the_session_sends_is_there() -> None:
    sent = _written(harness.session, "fields")
    assert len(sent) > 10
    assert sent <= {member.name for one in MESSAGES.messages for member in one.request}


def test_every_field_that_the_reference_reads_or_writes_is_there() -> None:
    text = "\n".join(
        path.read_text("utf-8")
        for path in sorted(Path(reference_impl.nameserver.__file__).parent.glob("*.py"))
    )
    read = set(re.findall(r'fields\.\w+\((?:command\.)?ext, "(\w+)"', text)) | set(
        re.findall(r'ext\.get\("(\w+)"', text)
    )
    written = set(re.findall(r'ext=\{"(\w+)"', text))
    assert read and written
    assert read <= {member.name for one in MESSAGES.messages for member in one.request}
    assert written <= {member.name for one in MESSAGES.messages for member in one.response}


def test_members_of_a_header() -> None:
    named = {one.encode_name for one in msgspec.structs.fields(Command)} - {"body"}
    assert {one.name for one in MESSAGES.header.members} == named
    header = msgspec.json.decode(encode(Command(105, ext={}, remark="r"))[8:])
    assert list(header) == [one.name for one in MESSAGES.header.members]
    bare = msgspec.json.decode(encode(Command(105, language=None))[8:])
    assert list(bare) == [one.name for one in MESSAGES.header.members if one.json == "always"]


@pytest.mark.parametrize("name", STRUCTS)
def test_members_of_a_body(name: str) -> None:
    fields = {field.encode_name: field for field in msgspec.structs.fields(STRUCTS[name])}
    assert sorted(members(name)) == list(members(name)) == sorted(fields)
    for member in members(name).values():
        default = fields[member.name].default
        if member.default is not None:
            assert member.default == (str(default).lower() if isinstance(default, bool) else str(default))


def test_members_of_a_registration() -> None:
    body = bodies.RegisterBody(
        topics={}, data_version=bodies.DataVersion(), filter_servers=[], mappings={}, mapping_details={},
        mapping_data_version=bodies.DataVersion(),
    )  # fmt: skip
    written = msgspec.json.decode(body.encode())
    assert list(members("RegisterBrokerBody")) == list(written)
    assert list(members("TopicConfigSerializeWrapper")) == list(written["topicConfigSerializeWrapper"])


# --- settings ---------------------------------------------------------------------------------------------


DEFAULTS_OF_OUR_OWN = {"bindAddress": "127.0.0.1"}
"""The reference offers itself to its own machine alone."""


def test_settings() -> None:
    known = {field.encode_name: field for field in Config.settings()}
    said = {one.name: one for one in MESSAGES.settings.keys}
    assert set(said) == set(known)
    for name, field in known.items():
        default = str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
        assert default in ("", DEFAULTS_OF_OUR_OWN.get(name, said[name].default)), name
        assert said[name].type == {int: "number", bool: "boolean", str: "text"}[field.type], name
        assert said[name].profiles == (("5.3", "5.5") if name in NOT_IN_49 else ()), name


def test_system_properties() -> None:
    assert {one.name for one in MESSAGES.settings.properties} == TLS_KEYS


# --- byte layouts -----------------------------------------------------------------------------------------

COMMANDS = [
    Command(105, opaque=1, version=479, ext={"topic": "TopicTest"}),
    Command(
        0, opaque=-1, flag=1, language="GO", version=513, remark="é", ext={"a": "b", "c": "d"}, body=b"{}"
    ),
    Command(34),
]


@pytest.mark.parametrize("serialization", list(Serialization), ids=str)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command.code))
def test_a_frame_is_laid_out_as_it_is_said(command: Command, serialization: Serialization) -> None:
    command = msgspec.structs.replace(command, serialization=serialization)
    data = encode(command)
    found = {piece.row.name: piece.value for piece in walk(layout("frame"), data, "5.5")}
    assert found["length"] == len(data) - 4
    assert found["serialization"] == serialization
    assert found["body"] == command.body
    header = found["header"]
    assert isinstance(header, bytes) and found["header length"] == len(header)
    if serialization is Serialization.JSON:
        assert msgspec.json.decode(header)["opaque"] == command.opaque
        return
    pieces = walk(layout("rocketmq-header"), header, "5.5")
    assert pieces[-1].end == len(header)
    rows = {piece.row.name: piece.value for piece in pieces}
    assert command.language is not None
    assert rows["code"] == command.code
    assert rows["language"] == LANGUAGES.index(command.language)
    assert (rows["version"], rows["opaque"], rows["flag"]) == (command.version, command.opaque, command.flag)
    assert rows["remark"] == (command.remark or "").encode()
    assert _entries(rows["entries"]) == (command.ext or {})


def _entries(data: int | bytes) -> dict[str, str]:
    assert isinstance(data, bytes)
    found: dict[str, str] = {}
    while data:
        entry = layout("rocketmq-entry")
        size = int.from_bytes(data[:2], "big")
        end = 6 + size + int.from_bytes(data[2 + size : 6 + size], "big")
        rows = {piece.row.name: piece.value for piece in walk(entry, data[:end], "5.5")}
        assert isinstance(rows["key"], bytes) and isinstance(rows["value"], bytes)
        found[rows["key"].decode()] = rows["value"].decode()
        data = data[end:]
    return found


@pytest.mark.parametrize("profile", ALL)
def test_a_compressed_registration_is_laid_out_as_it_is_said(profile: str) -> None:
    mapping = bodies.TopicQueueMappingInfo(topic="T1", bname="b", total_queues=2)
    body = bodies.RegisterBody(
        topics={name: bodies.TopicConfig(topic_name=name) for name in ("T1", "T2")},
        data_version=bodies.DataVersion(counter=7),
        filter_servers=["f:1"],
        mappings={"T1": mapping},
    )
    data = body.layout(profile != "4.9")
    pieces = walk(layout("compressed-register-body"), data, profile)
    assert pieces[-1].end == len(data)
    values = [(piece.row.name, piece.value) for piece in pieces]
    assert ("topics", 2) in values
    assert [
        str(value, "ascii").split()[0]
        for name, value in values
        if name == "topic" and isinstance(value, bytes)
    ] == [
        "T1",
        "T2",
    ]
    assert ("filter servers", b'["f:1"]') in values
    assert (("mapping", mapping.encode()) in values) == (profile != "4.9")


def test_what_ends_too_early_is_reported() -> None:
    with pytest.raises(ValueError, match="length ends at 4, the data at 2"):
        walk(layout("frame"), b"\0\0", "5.5")


# --- the file ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("request_body: DataVersion", "request_body: Version", "no body 'Version'"),
        ("type: list of QueueData", "type: list of Queues", "no type 'Queues'"),
        ("name: brokerName, type: text,", "name: brokerName, type: string,", "no type 'string'"),
        ("code: 219\n", "code: 224\n", "message 224 is there twice"),
        ("chapter: lease", "chapter: leases", "no chapter 'leases'"),
        ("size: remark length", "size: remark size", "no row 'remark size' before it"),
        ('since: "5.3"\n    sent', 'since: "6.0"\n    sent', "profile '6.0' does not exist"),
        ("type: int16", "typ: int16", "'typ' was unexpected"),
    ],
)
def test_a_mistake_is_reported(tmp_path: Path, old: str, new: str, told: str) -> None:
    specs = specs_directory()
    for name in ("schema", "profiles", "statements"):
        (tmp_path / name).symlink_to(specs / name)
    shutil.copytree(specs / "messages", tmp_path / "messages")
    holding = [path for path in (tmp_path / "messages").rglob("*.yaml") if old in path.read_text("utf-8")]
    assert holding
    for path in holding:
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(CatalogueProblems, match=re.escape(told)):
        load_messages(tmp_path)
