"""The Kaitai Struct description: what Kaitai's compiler makes of it reads what Apache's encoder wrote."""

from __future__ import annotations

import importlib.util
import io
import json
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from clusters import missing
from document_pages import ROOT, fences
from vectors.golden import BODY_VECTORS, FRAME_VECTORS, Vector, as_received

from harness.catalogue import specs_directory
from harness.report.machine import FOLDER
from harness.report.machine.kaitai import FILE, ID
from harness.targets import TargetError
from harness.wire import Command, Serialization
from harness.wire.codes import FLAG_ONEWAY, FLAG_RESPONSE
from harness.wire.header_json import read_json_header
from harness.wire.report import Reading

pytestmark = pytest.mark.live

COMPILER = ("io.kaitai", "kaitai-struct-compiler_2.12", "0.10")
POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>rmq-harness</groupId><artifactId>kaitai</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>
  </dependencies>
</project>
"""


def ran(*command: object, directory: Path) -> str:
    done = subprocess.run(
        [*map(str, command)], cwd=directory, capture_output=True, text=True, timeout=300, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-2000:]
    return said


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The module that the compiler makes."""
    pytest.importorskip("kaitaistruct", reason="needs kaitaistruct: make .venv/.spark")
    for tool in ("mvn", "java"):
        if shutil.which(tool) is None:
            missing(TargetError(expected=tool, got="no such command on the PATH", do=f"install {tool}"))
    directory = tmp_path_factory.mktemp("kaitai")
    (directory / "pom.xml").write_text(POM.format(*COMPILER), "utf-8")
    ran("mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib", directory=directory)
    description = specs_directory() / "rendered" / FOLDER / FILE
    said = ran(
        *("java", "-cp", "lib/*", "io.kaitai.struct.JavaMain", "-t", "python", description),
        directory=directory,
    )
    assert "error" not in said and "warning" not in said, said
    spec = importlib.util.spec_from_file_location(ID, directory / f"{ID}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stream(data: bytes) -> Any:
    from kaitaistruct import KaitaiStream

    return KaitaiStream(io.BytesIO(data))


def command_of(frame: Any) -> Command:
    """What a frame of the parser says; a JSON header is left to ours, which it is as text."""
    header = frame.header
    if frame.serialization.name == "json":
        text = header.text.encode()
        command = read_json_header(Reading(text), 0, len(text))
    else:
        command = Command(
            code=header.code,
            opaque=header.opaque,
            flag=header.flag,
            language=header.language.name.upper(),
            version=header.version,
            remark=header.remark or None,
            ext={one.key: one.value or None for one in header.entries.entries} or None,
            serialization=Serialization.ROCKETMQ,
        )
        assert header.is_response == bool(header.flag & FLAG_RESPONSE)
        assert header.is_one_way == bool(header.flag & FLAG_ONEWAY)
    command.body = frame.body
    return command


def test_frames(parser: ModuleType) -> None:
    read = parser.RocketmqRemoting(stream(b"".join(vector.data for vector in FRAME_VECTORS)))
    assert len(read.frames) == len(FRAME_VECTORS)
    for frame, vector in zip(read.frames, FRAME_VECTORS, strict=True):
        assert command_of(frame) == as_received(vector.fields), vector


def test_the_program_of_the_guide(
    parser: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (shown,) = fences(ROOT / "docs" / "guides" / "machine-formats.md", "python")
    (tmp_path / "frames.bin").write_bytes(b"".join(vector.data for vector in FRAME_VECTORS))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, ID, parser)
    exec(shown, {})
    assert capsys.readouterr().out.count("\n") == len(FRAME_VECTORS)


def test_codes_have_names(parser: ModuleType) -> None:
    binary = [one for one in FRAME_VECTORS if one.fields["serialization"] == "ROCKETMQ"]
    read = parser.RocketmqRemoting(stream(b"".join(vector.data for vector in binary)))
    kinds = parser.RocketmqRemoting.RequestCode, parser.RocketmqRemoting.ResponseCode
    names = {
        (one.header.request_code or one.header.response_code).name
        for one in read.frames
        if isinstance(one.header.request_code or one.header.response_code, kinds)
    }
    assert names >= {"get_routeinfo_by_topic", "topic_not_exist", "success"}


def test_bytes_that_apache_refuses_are_refused(parser: ModuleType) -> None:
    from kaitaistruct import ValidationFailedError

    for data in (b"\0\0\0\3abc", b"\0\xff\xff\xfd" + bytes(12), b"\0\0\0\4\0\0\0\0", b"\0\0\0\5\2\0\0\1{"):
        with pytest.raises(ValidationFailedError):
            parser.RocketmqRemoting(stream(data))


@pytest.mark.parametrize("vector", [one for one in BODY_VECTORS if one.type.endswith("#compressed")], ids=str)
def test_compressed_registrations(parser: ModuleType, vector: Vector) -> None:
    inflated = zlib.decompress(vector.data)
    data = stream(inflated)
    body = parser.RocketmqRemoting.CompressedRegisterBody(data)
    assert data.is_eof()
    assert set(json.loads(body.data_version)) <= {"counter", "stateVersion", "timestamp"}
    assert len(body.topics) == body.num_topics
    assert all(len(one.topic.split()) >= 5 for one in body.topics)
    assert isinstance(json.loads(body.filter_servers or "[]"), list)
    assert hasattr(body, "num_mappings") == vector.is_v5
