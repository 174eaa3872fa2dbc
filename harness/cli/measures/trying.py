"""Tries faults in processes that fork from one in which everything is loaded.

* `begin` prepares a worker process, once.
* `covered` says which cases run which lines of the server, so that a fault meets only those, and how long
  they take.
* `tried` puts in a fault and runs cases until one notices.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import resource
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from harness.catalogue import Role
from harness.cli.measures.server_copy import ServerCopy, load_server_copy
from harness.report.results import Verdict
from harness.session import Instance

if TYPE_CHECKING:
    from reference_impl.mutants.generated import LiveFunctions, Site

Lines = Mapping[str, Mapping[int, Sequence[str]]]
"""File -> line -> the cases that run it; a line of the server's start is run by ""."""
MEMORY = 4 << 30
CRASHES = 5
"""Cases in which the server ends, after which a fault is not tried further."""


class _Loaded(NamedTuple):
    """What a worker process has prepared."""

    copy: ServerCopy
    functions: LiveFunctions


_prepared: list[_Loaded] = []
"""One, once the process has begun."""
_interrupts: list[int] = []
"""Those that came to this worker."""


class Work(msgspec.Struct, frozen=True):
    """The cases that run a fault's lines, under one profile."""

    role: Role
    profile: str
    cases: tuple[str, ...]


class Ran(msgspec.Struct, frozen=True):
    """What the cases of a work did on the sound reference."""

    lines: dict[str, dict[int, list[str]]]
    """See `Lines`."""
    seconds: dict[str, float]
    """Of processor time that each case took while its lines were counted, which slows it down."""


class Trial(msgspec.Struct, frozen=True):
    """Cases that meet a fault."""

    works: tuple[Work, ...]
    seconds: int
    """Of processor time, more of which is a `hang`."""

    @property
    def cases(self) -> int:
        return sum(len(one.cases) for one in self.works)


class Outcome(msgspec.Struct, frozen=True):
    """What became of a fault."""

    how: str
    """* `failure`: a case fails, and the server lives.
    * `crash`: the server ends in a case, or does not start. An exception that `serve` lives through is none.
    * `hang`: it uses processor time without end.
    * `blocked`: no case fails, and some cannot be measured.
    * `unseen`: every case holds.
    """
    case: str = ""
    profile: str = ""
    why: str = ""
    """What the case saw."""


def begin() -> None:
    """Loads the server, its copy of the codec, and all cases. After Ctrl-C nothing more is tried."""
    signal.signal(signal.SIGINT, lambda number, _: _interrupts.append(number))
    copy = load_server_copy()
    atexit.register(shutil.rmtree, copy.copied, ignore_errors=True)
    from harness.conformance.loading import cases
    from reference_impl.mutants.generated import LiveFunctions

    for role in ("nameserver", "broker"):
        cases(role=role)
    _prepared.append(_Loaded(copy, LiveFunctions(copy.files())))
    gc.freeze()


def covered(work: Work) -> Ran:
    """Which of the cases run which lines of the server, and how long each takes.

    Raises RuntimeError without `coverage`.
    """
    return msgspec.convert(in_a_fork(lambda: _covered(work), None), Ran, strict=False)


def tried(site: Site, trials: Sequence[Trial]) -> Outcome:
    """Puts in the fault of a place and runs cases until one fails. Where none does, the last trial counts."""
    outcome = Outcome("unseen")
    for trial in trials:
        act = partial(_tried, site, trial.works)
        outcome = msgspec.convert(in_a_fork(act, trial.seconds), Outcome)
        if outcome.how == "failure":
            break
    return outcome


def _covered(work: Work) -> Ran:
    import coverage

    files = _prepared[0].copy.files()
    watching = coverage.Coverage(data_file=None, include=list(files), config_file=False, messages=False)
    began = [("", _used())]

    def begins(name: str) -> None:
        watching.switch_context(name)
        began.append((name, _used()))

    watching.start()
    try:
        for _ in results_of(work, begins):
            pass
    finally:
        watching.stop()
    began.append(("", _used()))
    seconds = {name: end - begin for (name, begin), (_, end) in pairwise(began)}
    data, sharing = watching.get_data(), _sharing(work)
    lines = {
        files[path]: {
            line: sorted({each for name in names for each in sharing.get(name, (name,))})
            for line, names in data.contexts_by_lineno(path).items()
        }
        for path in data.measured_files()
    }
    return Ran(lines, seconds)


def _used() -> float:
    """Seconds of processor time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _sharing(work: Work) -> dict[str, list[str]]:
    """The first case on a server that several share -> all of them: they look at what its start did, too."""
    from harness.conformance.instances import MAIN, need_of
    from harness.conformance.loading import cases

    loaded = {one.name: one for one in cases(role=work.role)}
    together: dict[object, list[str]] = {}
    for name in work.cases:
        together.setdefault(need_of(loaded[name]), []).append(name)
    together.pop(MAIN, None)  # its start is run by ""
    return {some[0]: some for some in together.values()}


def _tried(site: Site, work: Sequence[Work]) -> Outcome:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    copy, functions = _prepared[0]
    functions.install(site, copy.source(site.file), copy.path(site.file))
    best = Outcome("unseen")
    for some in work:
        crashes = 0
        try:
            for name, (verdict, why, lives) in results_of(some, lambda _: None):
                how = how_of(verdict, lives)
                if how == "failure":
                    return Outcome(how, name, some.profile, why)
                crashes += how == "crash"
                if _ORDER.index(how) > _ORDER.index(best.how):
                    best = Outcome(how, name, some.profile, why)
                if crashes == CRASHES:
                    return best
        except Exception as error:  # a server that does not start may raise anything
            best = Outcome("crash", "", some.profile, f"{type(error).__name__}: {error}")
    return best


_ORDER = ("unseen", "blocked", "crash", "failure")
"""From the least to the most."""
_KILLED = (Verdict.FAIL, Verdict.DEVIATES, Verdict.OBSERVED)


def how_of(verdict: Verdict, lives: bool) -> str:
    if verdict is Verdict.PASS:
        return "unseen"
    if not lives:
        return "crash"
    if verdict is Verdict.UNSUPPORTED:  # the built-in server cannot be asked, whatever its faults
        return "unseen"
    return "failure" if verdict in _KILLED else "blocked"


def results_of(
    work: Work, before: Callable[[str], object]
) -> Iterator[tuple[str, tuple[Verdict, str, bool]]]:
    """The cases one after the other on one server: verdict, what was seen, and whether the server lives."""
    from harness.cli.killing import results

    uri = f"builtin:{work.profile}"
    for name, result, lives in results(work.role, uri, work.profile, work.cases, before, _enduring):
        why = result.failure.actual if result.failure else result.reason
        yield name, (result.verdict, why, lives)


def _enduring(instance: Instance) -> Instance:
    """The server as `serve` runs it: an exception seldom ends it, and is noticed by what comes of it."""
    from harness.targets.in_process import InProcess

    assert isinstance(instance, InProcess)
    instance.endures = True
    return instance


def in_a_fork(act: Callable[[], Any], seconds: int | None) -> Any:
    """What `act` returns in a process of its own; an outcome `hang` if that uses more processor time.

    Raises InterruptedError once the user has interrupted the command, which looks at no result any more.
    """
    if _interrupts:
        raise InterruptedError
    forking = multiprocessing.get_context("fork")
    here, there = forking.Pipe(duplex=False)
    child = forking.Process(target=_answer, args=(act, there, seconds))
    child.start()
    there.close()
    try:
        answer = msgspec.msgpack.decode(here.recv_bytes())
    except EOFError:
        answer = None
    child.join()
    if _interrupts:
        raise InterruptedError
    if answer is not None:
        return answer
    if child.exitcode == -signal.SIGXCPU:
        return {"how": "hang", "why": f"more than {seconds} s of processor time"}
    if child.exitcode is not None and child.exitcode < 0:
        return {"how": "crash", "why": f"the interpreter ended by {signal.Signals(-child.exitcode).name}"}
    raise RuntimeError(f"a worker ended with {child.exitcode}; its stack trace is above")


def _answer(act: Callable[[], Any], there: Connection, seconds: int | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    there.send_bytes(msgspec.msgpack.encode(msgspec.to_builtins(act())))
