"""A real finding, its folder, its script, and the same trace played again."""

from __future__ import annotations

import ast
import json
import os
import re
import zipfile
import zlib
from pathlib import Path

import pytest
from findings_helpers import LEASES_NEVER_END, PROGRAM, Twins

from harness.catalogue import catalogue
from harness.cli import main
from harness.findings.experiment import Finding
from harness.findings.record import record_of
from harness.findings.replay_answers import AnswerReader
from harness.findings.replay_names import Renaming, renamed
from harness.findings.store import FindingStore
from harness.findings.triage import Budget, triage
from harness.program.chance import chance
from harness.program.frames import frame_of
from harness.program.names import MADE_NAME, Names
from harness.program.nameserver.steps import ClusterInfo, Register
from harness.program.step import Time
from harness.trace import Closed, Header, Note, Opened, Received, Sent, Trace, read_trace, write_trace
from harness.wire import Command, decode, encode
from harness.wire.comparing import comparison_rules

SNAPSHOTS = Path(__file__).resolve().parents[2] / "snapshots" / "findings"
"""Written anew with UPDATE_SNAPSHOTS=1."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    twins = Twins(LEASES_NEVER_END)
    store = FindingStore(out, statements={one.id: one for one in catalogue().statements})
    attempt = twins.attempt(PROGRAM, fresh=False)
    found = triage(twins, PROGRAM, attempt, store, Budget(now=lambda: 0.0))
    assert isinstance(found, Finding)
    assert [type(step) for step in found.program[:2]] == [Register, Time]
    assert len(found.program) == 3
    assert found.directory is not None
    return Path(found.directory)


def test_the_folder_holds_everything(folder: Path) -> None:
    assert sorted(one.name for one in folder.iterdir()) == [
        "README.md",
        "finding.json",
        "finding.pcap",
        "original.jsonl",
        "program.jsonl",
        "reproduce.py",
        "sequence.svg",
        "steps.txt",
        "trace",
    ]
    facts = json.loads((folder / "finding.json").read_text())
    assert facts["statement"]["id"] == "ns.lease.expired-broker-leaves-nothing"
    assert facts["statement"]["text"] in (folder / "README.md").read_text()
    decisive = read_trace(folder / "trace").events[facts["decisive"]]
    assert isinstance(decisive, Received)
    steps = (folder / "steps.txt").read_text()
    assert steps.count("** this decides") == 1
    assert "151 s of protocol time pass" in steps


def test_the_script_is_python_3_8_and_imports_nothing_of_ours(folder: Path) -> None:
    tree = ast.parse((folder / "reproduce.py").read_text(), feature_version=(3, 8))
    imports = {
        name.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    } | {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imports <= {
        *("__future__", "argparse", "json", "random", "re", "socket", "ssl", "struct", "subprocess"),
        *("sys", "time", "typing", "zlib"),
    }


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, object]]:
    status = main(["replay", *arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_a_finding_shows_again_on_its_target(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = answer(capsys, str(folder))
    assert (status, said["conclusion"], said["shows"]) == (0, "THE SAME", True)
    assert said["now"] == [LEASES_NEVER_END]


def test_it_does_not_show_on_a_sound_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = answer(capsys, str(folder), "builtin:5.3")
    assert (status, said["conclusion"], said["shows"]) == (1, "DIFFERENT", False)
    (decisive,) = [one for one in said["answers"] if one["decisive"]]  # type: ignore[union-attr]
    assert not decisive["same"]
    assert decisive["old"]["code"] == 0


def test_old_and_new_answers_stand_side_by_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(folder), "builtin:5.3"]) == 1
    lines = capsys.readouterr().out.splitlines()
    (at,) = [number for number, line in enumerate(lines) if "<- decisive" in line]
    assert "DIFFERS" in lines[at]
    old, _, new = lines[at + 2].partition("|")
    assert (old.strip(), new.strip()) == ("code: 0", 'outcome: "the target closes the connection"')
    assert all(len(line) <= 120 for line in lines[3:])


def test_a_trace_that_is_cut_short_is_incomplete(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "cut.trace"
    cut.write_bytes((folder / "trace").read_bytes()[:-5])
    status, said = answer(capsys, str(cut))
    assert (status, said["conclusion"]) == (2, "INCOMPLETE")


def test_a_trace_without_answers_is_incomplete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trace(tmp_path / "empty.trace", Trace(Header(target="builtin:"), ()))
    assert answer(capsys, str(tmp_path / "empty.trace"))[0] == 2


@pytest.mark.parametrize(
    "words", [["nowhere.trace"], ["."], ["FOLDER", "builtin:5.3", "builtin:5.3"], ["FOLDER", "no:target"]]
)
def test_mistakes_are_reported(words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", *(word.replace("FOLDER", str(folder)) for word in words)]) == 3
    assert "rmq-harness replay: " in capsys.readouterr().err


def test_a_target_that_is_not_there_is_status_4(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(folder), "tcp://127.0.0.1:1"]) == 4


# --- names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["json", "compressed", "compressed-5", "bare"])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("crc", ["right", "wrong", "none"])
def test_a_renamed_registration_is_one_that_was_made_under_other_names(
    form: str, binary: bool, crc: str
) -> None:
    step = Register(topics={"T0": (4, 4, 6, 0)}, form=form, binary=binary, crc=crc)  # type: ignore[arg-type]
    names = Names(chance("renamed"))
    frame = frame_of(step, names, 7, 479)
    renaming = Renaming([names.nonce], [names.address("a0")], chance("new names").randrange)
    cuts = [frame[:3], frame[3:40], frame[40:]]
    pieces = renamed(cuts, renaming)
    assert [len(piece) for piece in pieces[:2]] == [3, 37]
    before, after = decode(frame), decode(b"".join(pieces))
    assert before.ext is not None
    assert after.ext is not None
    assert names.nonce not in str(after.ext) + _content(after).decode("latin-1")
    assert renaming.back(_content(after)) == _content(before)
    right = str(zlib.crc32(after.body) & 0x7FFFFFFF)
    assert (after.ext.get("bodyCrc32") == right) == (crc == "right")
    back = {name: renaming.back((value or "").encode()).decode() for name, value in after.ext.items()}
    assert {**back, "bodyCrc32": ""} == {**before.ext, "bodyCrc32": ""}


def _content(command: Command) -> bytes:
    return zlib.decompress(command.body) if command.body[:1] == b"\x78" else command.body


def test_a_new_name_is_recognised_as_made_too() -> None:
    renaming = Renaming(["zabcdefg"], [], chance("x").randrange)
    new = renaming.forth(b"T0-zabcdefg").decode()
    assert new != "T0-zabcdefg"
    assert re.search(MADE_NAME, new)


def test_what_is_no_frame_is_renamed_as_it_is() -> None:
    renaming = Renaming(["zabcdefg"], [], chance("x").randrange)
    (data,) = renamed([b"\xff\xff\xff\xffb0-zabcdefg!"], renaming)
    assert len(data) == 16
    assert b"zabcdefg" not in data
    assert renaming.back(data) == b"\xff\xff\xff\xffb0-zabcdefg!"


def test_what_others_have_on_a_shared_server_is_no_difference() -> None:
    def info(*names: str) -> bytes:
        table = ",".join(f'"{name}":["b"]' for name in names)
        return encode(Command(code=0, flag=1, opaque=1, body=f'{{"clusterAddrTable":{{{table}}}}}'.encode()))

    def said(frame: bytes) -> dict[str, object]:
        return AnswerReader(comparison_rules(MADE_NAME), lambda name: "zabcdefg" in name).read(frame, 106)

    ours, lacking = info("c0-zabcdefg"), info("DefaultCluster")
    assert said(info("c0-zabcdefg", "c9-zmmmmmmm-2", "c0-zqqqqqqq")) == said(ours)
    assert said(lacking) != said(ours)


def test_text_is_the_same_however_it_is_escaped() -> None:
    def said(body: str) -> dict[str, object]:
        frame = encode(Command(code=0, flag=1, opaque=1, body=body.encode()))
        return AnswerReader(comparison_rules(MADE_NAME), lambda _: True).read(frame, 105)

    assert said('{"orderTopicConf":"b:4/é☃"}') == said(r'{"orderTopicConf":"b:4\/\u00e9\u2603"}')
    assert said('{"brokerAddrs":{0:"a"}}') != said('{"brokerAddrs":{"0":"a"}}'), "old clients need the first"


# --- from a trace to a record -------------------------------------------------------------------------------


def test_a_record_says_what_came_and_what_never_came() -> None:
    names = Names(chance("record"))
    asked = [frame_of(ClusterInfo(), names, opaque, 479) for opaque in (1, 2)]
    reply = encode(Command(code=0, flag=1, opaque=2))
    events = (
        Opened(real=0, protocol=100.0, connection=1, local="127.0.0.1:5", remote="127.0.0.1:9876"),
        Sent(real=0, protocol=100.0, connection=1, data=asked[0] + asked[1][:9]),
        Sent(real=0, protocol=101.5, connection=1, data=asked[1][9:]),
        Received(real=0, protocol=102.0, connection=1, data=reply),
        Closed(real=0, protocol=103.0, connection=1, by="us", how="reset"),
    )
    record = record_of(Trace(Header(), events), decisive=1)
    assert not record.missing
    assert [(one["do"], one["at"]) for one in record.data["actions"]] == [
        ("connect", 0.0),
        ("send", 0.0),
        ("send", 1.5),
        ("answer", 2.0),
        ("silence", 3.0),
        ("close", 3.0),
    ]
    answer, silence = record.data["actions"][3:5]
    assert (answer["key"], answer["asked"], answer["number"]) == ("answer 2", 106, 3)
    assert silence["decisive"], "nothing came to the request that decides"


def test_an_end_that_the_target_made_decides_where_the_answer_is_due() -> None:
    names = Names(chance("record"))
    events = (
        Opened(real=0, protocol=0.0, connection=1, local="127.0.0.1:5", remote="127.0.0.1:9876"),
        Sent(real=0, protocol=0.0, connection=1, data=frame_of(ClusterInfo(), names, 1, 479)),
        Closed(real=0, protocol=0.0, connection=1, by="target", how="fin"),
    )
    closed = record_of(Trace(Header(), events), decisive=1).data["actions"][-1]
    assert (closed["do"], closed["decisive"]) == ("closed", True)


def test_what_no_bytes_bring_back_is_missing() -> None:
    events = (Note(real=0, protocol=0.0, text="file cert.pem, 700 bytes"),)
    assert record_of(Trace(Header(), events)).missing == (
        "file cert.pem, 700 bytes were put where the server reads them",
    )


# --- what people read ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["steps.txt", "sequence.svg", "README.md"])
def test_what_people_read_looks_as_it_did(name: str, folder: Path) -> None:
    text = (folder / name).read_text(encoding="utf-8").replace("><", ">\n<")
    names = read_trace(folder / "trace").header.names
    for made, symbol in names.items():
        text = text.replace(made, f"<{symbol}>")
    text = re.sub(r"nothing-\w+", "nothing", text)
    text = re.sub(r"[\d.]+ s of real time", "(some) real time", text)
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_a_trace_is_replayed_out_of_the_archive_of_a_campaign(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "stateful-1-9.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(folder / "trace", "stateful-3.trace")
    main(["replay", f"{archive}#stateful-3.trace", LEASES_NEVER_END])
    out = capsys.readouterr()
    assert re.search(r"(\d+) of \1 answers are the same", out.out + out.err)
    assert main(["replay", f"{archive}#stateful-4.trace"]) == 3
    assert "expected an archive with stateful-4.trace" in capsys.readouterr().err
