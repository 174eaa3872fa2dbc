"""The record of a run, and the only thing that any report reads.

Invariants:

1. Records are plain data: no live object, no clock, no exception. Callers pass values.
2. A run is a stream of lines (``results.jsonl``): one header, one line per finished case, one end. Each line
   is flushed as it is written, so that a killed run still reports what it had measured.
3. A record without an end, or with a last line cut short, is *incomplete*: it is read, reported, never green.
4. The header names every planned case. A planned case without a result is "not run".
5. ``SCHEMA`` is raised whenever a reader of the old form would misunderstand the new one.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Literal

import msgspec

from harness.catalogue import Class, Fix, Level, Role

SCHEMA = 1
FILE_NAME = "results.jsonl"

Direction = Literal["sent", "received"]
BodyForm = Literal["text", "hex"]
WrongKind = Literal["outcome", "member", "unreadable"]
"""Another outcome than expected; a part of the answer that differs; an answer that cannot be read."""
Change = Literal[
    "absent",
    "added",
    "of another type",
    "not in UTF-8",
    "not a JSON integer",
    "not a JSON string",
    "different",
    "more",
    "repeated",
    "fewer",
    "others",
    "in another order",
]
"""Of a member, and of the entries of a list or table."""


class Verdict(StrEnum):
    """What one case came to. The words are those of every report."""

    PASS = "pass"
    FAIL = "fail"
    XFAIL = "xfail"
    XPASS = "xpass"
    QUIRK = "quirk"
    DEVIATES = "deviates"
    OBSERVED = "observed"
    UNSUPPORTED = "unsupported"
    LATER = "later"
    BLOCKED = "blocked"
    FLAKY = "flaky"
    ERROR = "error"


class RecordError(ValueError):
    """A results file that cannot be read: says which file, which line, and what was expected there."""


class _Heard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record with text that a target chose.

    Half of a surrogate pair, which JSON can carry and UTF-8 cannot, becomes the text of its escape, so that
    every report can write it.
    """

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            writable = _writable(value)
            if writable is not value:
                msgspec.structs.force_setattr(self, name, writable)


def _writable(value: object) -> object:
    """The value itself, unless it is a text, or a tuple of texts, that UTF-8 cannot carry."""
    if isinstance(value, tuple) and value and isinstance(value[0], str):
        return tuple(map(_writable, value))
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


class StatementSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One statement that applies under the run's profile, as far as reports show it."""

    id: str
    chapter: str
    level: Level
    class_: Class = msgspec.field(name="class", default="essential")
    text: str
    source: tuple[str, ...] = ()
    """Each as ``Class#method (tag)``."""
    observed: tuple[str, ...] = ()
    """Versions of Apache's server on which it was seen to hold."""
    profiles: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    untestable: str | None = None


class QuirkSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A named defect of the server that is judged, as far as reports show it."""

    id: str
    statements: tuple[str, ...]
    cases: tuple[str, ...]
    """Names of the cases that can see it."""
    instead: str
    """What the server does instead of what the statements say."""
    versions: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    intermittent: str | None = None
    """Why it is not seen every time; None where it is."""


class PlannedCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A case that the run selected, before it ran."""

    name: str
    chapter: str
    level: Level
    class_: Class = msgspec.field(name="class", default="essential")
    statements: tuple[str, ...]
    title: str = ""
    waits: bool = False
    """Whether it lets time pass: in real time such cases wait together."""
    expected: float = 0.0
    """Real seconds that it is expected to take, with others beside it where they run so."""


ROLE_NAMES: dict[Role, str] = {"nameserver": "NameServer", "broker": "Broker"}


class RunHeader(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="run"):
    """What was about to be measured, written before the first case runs."""

    suite: str
    """Version of the harness."""
    target: str
    """The URI as the user gave it."""
    profile: str
    clock: Literal["virtual", "warped", "real"]
    started: str
    """Wall clock, ISO 8601 with offset."""
    cases: tuple[PlannedCase, ...]
    """Every selected case, in the order of the catalogue, but those about faulty and hostile peers late."""
    statements: tuple[StatementSummary, ...]
    """Every statement that applies under the profile, whether or not a selected case proves it."""
    cases_available: int
    """Cases that apply under the profile; ``len(cases)`` of them were selected."""
    schema: int = SCHEMA
    """Always written out, unlike other defaults: it is how a reader knows what it reads."""
    description: str = ""
    """What the target said it is, e.g. ``Apache RocketMQ 5.3.3 on Java 17``."""
    warp: float = 1.0
    """How many protocol seconds pass in one real second (1 in real time; unused in virtual time)."""
    catalogue: str = ""
    """Digest of the statements that were loaded."""
    seed: int | None = None
    workers: int = 1
    """Processes that run the cases."""
    command: tuple[str, ...] = ()
    strict: bool = False
    """Whether a broken SHOULD fails the run."""
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    only_failed: bool = False
    """Whether only cases were selected that had failed in the record before it."""
    not_tried_again: dict[Verdict, int] = {}
    """What became there of the cases that had not failed, how many of each verdict."""
    waiting_left_out: int = 0
    """Cases that were left out because they wait in real time."""
    failed_before: tuple[str, ...] = ()
    """Cases that had failed in the records before it in the same directory and had not passed since."""
    classes: tuple[Class, ...] = ()
    """Those that were selected; empty where all were."""
    server: str = ""
    """The known server whose quirks were looked for, as ``NAME@VERSION``; empty where none was."""
    quirks: tuple[QuirkSummary, ...] = ()
    """Its quirks that a selected case can see."""
    role: Role = "nameserver"
    baseline: str = ""
    """The file of known failures; empty where none was given."""
    stale: tuple[str, ...] = ()
    """A sentence for each of its entries that has expired or names nothing."""

    @property
    def judged(self) -> str:
        """Which servers are as the run's was to be: ``NameServer 5.3``."""
        return f"{ROLE_NAMES[self.role]} {self.profile}"

    @property
    def rules(self) -> str:
        """What it was judged by: ``profile 5.3``, or ``Broker, profile 5.3``."""
        return (
            f"profile {self.profile}"
            if self.role == "nameserver"
            else f"{ROLE_NAMES[self.role]}, profile {self.profile}"
        )


class FieldLine(_Heard, frozen=True):
    """One decoded field of the decisive frame: bytes ``start`` to ``end`` (exclusive, whole frame from 0)."""

    name: str
    start: int
    end: int
    value: str
    decisive: bool = False
    """Whether this field is the one that decided."""


class Asked(_Heard, frozen=True, kw_only=True, omit_defaults=True):
    """A request that a case judged, as far as causes are looked for in it."""

    request: str
    """Code and name: ``322 QUERY_DATA_VERSION``; ``raw bytes`` where no code can be read."""
    traits: tuple[str, ...] = ()
    """How it differs from an ordinary request of its code, a phrase each (:mod:`harness.report.traits`)."""


class Sent(Asked, frozen=True, kw_only=True, omit_defaults=True):
    """The request that a failure is about."""

    header: str = ""
    """As JSON, also where it was sent in binary form; as it is where it is no header."""
    body: str = ""
    """Text, or hexadecimal digits (``body_form``)."""
    body_form: BodyForm = "text"
    size: int = 0
    """Bytes of the whole; ``header`` and ``body`` may be cut, with the number of characters left out."""


class Held(Asked, frozen=True, kw_only=True, omit_defaults=True):
    """A request whose outcome was as expected."""

    answer: str
    """``0 SUCCESS``, ``closed``, ``silence``, ``no command``."""


CLOSED: Final = "closed"
SILENCE: Final = "silence"
NO_FLAG: Final = "no response flag"
STRANGE_OPAQUE: Final = "another opaque"
WRONG_LENGTH: Final = "a wrong length"
"""What `Wrong.got` and `Wrong.wanted` call an outcome that is no reply."""


UNASKED: Final = "responses"
"""What `Wrong.place` says where the server sent a response that answers nothing."""


class Wrong(_Heard, frozen=True, kw_only=True, omit_defaults=True):
    """In which way an answer was wrong, free of names, addresses and numbers that the run made."""

    kind: WrongKind
    wanted: str = ""
    """What was expected of the outcome: ``0 SUCCESS``, ``closed``, ``silence``; alternatives with ``or``."""
    got: str = ""
    """What came: ``29``, ``closed``, ``silence``, ``no answer``, ``no command``, ``no response flag``,
    ``another opaque``, ``a wrong length``.
    """
    place: str = ""
    """Where the answer differs: ``extFields.haServerAddr``, ``body.brokerDatas[]``, ``remark``."""
    change: Change | None = None
    """How it differs there."""


class Failure(_Heard, frozen=True):
    """The six facts of a failure: statement, expected, actual, frame, source, reproduction.

    Used for every verdict that has something to show: ``fail``, ``xfail``, ``quirk``, ``deviates``,
    ``flaky``, and ``blocked`` by a statement.
    """

    statement: str
    text: str
    expected: str
    """One line per allowed alternative."""
    actual: str
    frame_no: int | None = None
    """Number of the decisive event as the trace counts it; None where nothing came (silence)."""
    direction: Direction | None = None
    where: str = ""
    """The decisive bytes in one line: ``#6 ← cluster info, body bytes 96–142: "brokerAddrs":{…}``."""
    frame_hex: str = ""
    fields: tuple[FieldLine, ...] = ()
    start: int | None = None
    end: int | None = None
    """Byte range of the decisive part in the frame, end exclusive; both None when the whole frame decides."""
    source: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    """The later releases of the server that mend it, and what it was reported as."""
    trace: str | None = None
    """Path of the recorded trace, relative to the directory of the results file where it lies inside it."""
    replay: str = ""
    """The command that shows it again."""
    sent: Sent | None = None
    """The request that was answered wrongly; None where the target was to speak first."""
    wrong: Wrong | None = None
    after: tuple[str, ...] = ()
    """What had changed something before in the case: requests as ``104 UNREGISTER_BROKER``, ``time``,
    ``closed connection``, ``restart``; each once, by when it came last."""
    deed: Sent | None = None
    """The request before it that the answer shows, or should have caused: the last that changed something, or
    the last on the connection that was to be closed. None where ``sent`` is a change itself."""
    then: tuple[str, ...] = ()
    """What happened between the two, if anything of ``time``, ``closed connection``, ``restart``."""
    allowed: bool = False
    """Whether the statement allows it, although Apache's server does otherwise: then nothing is broken."""


class CaseResult(_Heard, frozen=True, tag_field="record", tag="case"):
    """One finished case."""

    case: str
    statements: tuple[str, ...]
    chapter: str
    level: Level
    verdict: Verdict
    begun: float
    """Real seconds from the beginning of the run to that of the case."""
    seconds: float
    """Real time that the case took. Cases that share a wait overlap."""
    class_: Class = msgspec.field(name="class", default="essential")
    title: str = ""
    reason: str = ""
    """Why it is blocked, unsupported, later, observed, flaky or an error; one sentence."""
    failure: Failure | None = None
    detail: str = ""
    """For ``error``: the stack trace. Nothing else is shown of it on a console."""
    trace: str | None = None
    log: tuple[str, ...] = ()
    """What a server that we started wrote while the case ran, where it did not pass: a few lines."""
    quirk: str = ""
    """For ``quirk``: the id of the quirk that it is."""
    blocked_by: str = ""
    """For ``blocked``: the id of the statement that the case builds on and the target breaks; empty where
    something else kept it from being measured. ``failure`` is then what the case saw of it."""
    held: tuple[Held, ...] = ()
    """The different kinds of requests whose outcome was as expected: what no cause may contradict."""
    ended_in: tuple[str, ...] = ()
    """Where the target ended: the cases in which it did. Of the last case, those of the whole run; of any
    other, the case itself.
    """

    @property
    def is_broken(self) -> bool:
        """Whether it shows an answer that no statement allows."""
        return self.failure is not None and not self.failure.allowed


class RunEnd(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="record", tag="end"):
    """How the run ended. Its exit status is the one that the process returned."""

    exit_status: int
    why: str
    seconds: float
    """Real time from the first case to the last."""
    interrupted: bool = False
    stopped: bool = False
    """Whether it was to stop at the first failure, and did."""
    trouble: str = ""
    """Why the target could not be reached or started, or what failed in the harness outside of any case."""


Record = RunHeader | CaseResult | RunEnd

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded run, whole or not."""

    header: RunHeader
    results: tuple[CaseResult, ...] = ()
    end: RunEnd | None = None
    truncated: bool = False
    """The last line was cut short."""


class ResultsWriter:
    """Appends records to a new results file, one line each, flushed at once.

    The header comes first. Raises :class:`RecordError` for an order that no reader could understand.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] = path.open("wb")
        self._last: Record | None = None

    def write(self, record: Record) -> None:
        if (self._last is None) != isinstance(record, RunHeader):
            raise RecordError(f"{self.path}: a results file is one header, then cases, then an end")
        if isinstance(self._last, RunEnd):
            raise RecordError(f"{self.path}: nothing comes after the end of a run")
        self._file.write(_encoder.encode(record) + b"\n")
        self._file.flush()
        self._last = record

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> ResultsWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def read_run(path: Path) -> Run:
    """Read ``results.jsonl`` (or the directory that holds it).

    A last line without its newline is cut short: it is dropped and the run is marked. Anything else that does
    not parse raises :class:`RecordError`, and so does a file of another schema.
    """
    if path.is_dir():
        path = path / FILE_NAME
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(
            f"{path}: cannot be read ({error.strerror}); expected the {FILE_NAME} of a run"
        ) from None
    lines = data.split(b"\n")
    truncated = lines.pop() != b""
    records = [_parse(path, number, line) for number, line in enumerate(lines, start=1)]
    if not records or not isinstance(records[0], RunHeader):
        raise RecordError(f"{path}: line 1: expected the header of a run")
    header = records[0]
    results: list[CaseResult] = []
    end: RunEnd | None = None
    planned, seen = {case.name for case in header.cases}, set[str]()
    for number, record in enumerate(records[1:], start=2):
        if end is not None or isinstance(record, RunHeader):
            raise RecordError(f"{path}: line {number}: expected no more than one header, cases and one end")
        if isinstance(record, RunEnd):
            end = record
        elif record.case in seen:
            raise RecordError(f"{path}: line {number}: the case {record.case} already has a result")
        elif record.case not in planned:
            raise RecordError(f"{path}: line {number}: the header does not plan the case {record.case}")
        else:
            seen.add(record.case)
            results.append(record)
    return Run(header=header, results=tuple(results), end=end, truncated=truncated)


def _parse(path: Path, number: int, line: bytes) -> Record:
    try:
        record = _decoder.decode(line)
    except msgspec.MsgspecError as error:
        raise RecordError(f"{path}: line {number}: not a record of schema {SCHEMA} ({error})") from None
    if isinstance(record, RunHeader) and record.schema != SCHEMA:
        raise RecordError(
            f"{path}: line {number}: written with schema {record.schema}, this version reads {SCHEMA}; "
            "use the version of rmq-harness that wrote it"
        )
    return record
