"""Runs the conformance cases under pytest: for `rmq-harness check`, and for whoever prefers plain pytest.

    pytest --pyargs harness.conformance -p harness.pytest_plugin --target tcp://127.0.0.1:9876 --profile 5.3

Rules of this module:

* pytest collects, selects, distributes (`-n`) and reports; what a case comes to is said by
  `harness.conformance.running` and travels as a JSON record in the report's user properties, so it survives
  the way from a worker.
* Cases are measured where they are named (`harness.conformance`, or a file of it). Any other run is pytest's
  own: nothing is started, nothing is added to it but the fixtures of `harness.pytest_fixtures`.
* The target is started once. Workers of `-n` are told where it runs, except for one that lives in the
  process.
* Whoever wants to follow a run implements the three hooks of `Hooks`.
* The exit status is that of `harness.report.verdicts`, not pytest's; where the cases come to 0 and a test of
  the user's own has failed, it is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from harness import conformance, pytest_fixtures
from harness.catalogue import (
    LEVELS,
    CatalogueError,
    CatalogueProblems,
    Level,
    Quirk,
    Role,
    catalogue,
    nearest,
)
from harness.conformance import case_of
from harness.conformance.baseline import Baseline, BaselineError, Entry, in_force, read
from harness.conformance.instances import Waiting
from harness.conformance.loading import FIRST, LAST, LoadedCase, cases, problems
from harness.conformance.plan import Choice, Plan, plan, quirk_summaries
from harness.conformance.running import DEADLINE, Runner, Setting
from harness.conformance.together import Together
from harness.report.allure import decorate
from harness.report.results import (
    FILE_NAME,
    ROLE_NAMES,
    CaseResult,
    ResultsWriter,
    Run,
    RunEnd,
    RunHeader,
    Verdict,
)
from harness.report.verdicts import ending
from harness.session import ClockKind, Instance, RunningClock
from harness.targets import Shareable, Target, TargetError, attach, builtin, parse
from harness.version import version

PROPERTY = "rmq-result"
NO_QUIRKS = "none"
_PASSED = (Verdict.PASS, Verdict.DEVIATES, Verdict.OBSERVED)


class Order(msgspec.Struct, frozen=True):
    """What a user ordered: the options of a run, as they travel to workers."""

    target: str = "builtin:"
    role: Role = "nameserver"
    nameserver: str = ""  # where a Broker that runs already looks for the NameServer that is ours
    profile: str = ""  # empty: the one that fits the target
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    level: Level | None = None
    strict: bool = False
    quirks: str = ""  # NAME@VERSION or NO_QUIRKS; empty: those of the server that the target is known to be
    baseline: Baseline = Baseline()
    deadline: float = DEADLINE
    out: str = ""  # an absolute path, because a worker may run elsewhere; empty: nothing is written
    allure: bool = False
    command: tuple[str, ...] = ()

    def parsed(self) -> Target:
        """The target. Raises `TargetError` where there is none."""
        return parse(self.target, self.role, self.nameserver)


class UsageProblem(Exception):  # noqa: N818 - a problem of the user's, told in one line
    """The order cannot be carried out as it stands."""


class Hooks:
    """Events of a run, for those who follow it."""

    @pytest.hookspec
    def pytest_rmq_start(self, header: RunHeader) -> None:
        """The run begins; the header says what is planned."""

    @pytest.hookspec
    def pytest_rmq_case(self, result: CaseResult) -> None:
        """A case has come to its verdict."""

    @pytest.hookspec
    def pytest_rmq_finish(self, run: Run) -> None:
        """The run is over; `run.end` is there."""


# --- what is measured
# --------------------------------------------------------------------------------------------


class Measurement:
    """A plan, a target that runs, and the record of what has been measured."""

    def __init__(self, order: Order, chosen: Plan, instance: Shareable) -> None:
        self.order = order
        self.plan = chosen
        self.instance = instance
        self.run: Run | None = None
        self._stopwatch = RunningClock()
        self._writer: ResultsWriter | None = None
        self._results: dict[str, CaseResult] = {}

    def begin(self, names: Iterable[str], hooks: Any) -> None:
        """Writes the header: the planned cases that pytest really collected."""
        collected = set(names)
        clock = self.instance.clock
        planned = tuple(one for one in self.plan.planned if one.name in collected)
        server, quirks = known_quirks(self.order)
        header = RunHeader(
            suite=version(),
            target=self.order.target,
            role=self.order.role,
            profile=self.plan.profile,
            clock=clock.kind,
            warp=clock.warp or 1.0,
            started=datetime.now().astimezone().isoformat(timespec="seconds"),
            description=self.instance.description,
            cases=planned,
            statements=self.plan.statements,
            cases_available=self.plan.available,
            catalogue=catalogue().digest,
            command=self.order.command,
            strict=self.order.strict,
            select=self.order.select,
            exclude=self.order.exclude,
            baseline=self.order.baseline.file,
            stale=self.order.baseline.stale,
            server=server,
            quirks=quirk_summaries(quirks, planned),
        )
        self.run = Run(header=header)
        if self.order.out:
            directory = Path(self.order.out)
            directory.mkdir(parents=True, exist_ok=True)
            self._writer = ResultsWriter(directory / FILE_NAME)
            self._writer.write(header)
        hooks.pytest_rmq_start(header=header)

    def add(self, result: CaseResult, hooks: Any) -> None:
        """Records the result of a case; the first one counts."""
        if result.case in self._results:
            return
        self._results[result.case] = result
        if self._writer is not None:
            self._writer.write(result)
        hooks.pytest_rmq_case(result=result)

    def finish(self, hooks: Any, *, interrupted: bool = False, trouble: str = "") -> RunEnd:
        """Ends the record."""
        if self.run is None:
            self.begin((), hooks)
        assert self.run is not None
        run = msgspec.structs.replace(self.run, results=tuple(self._results.values()))
        end = ending(run, seconds=self._stopwatch.waiting(), interrupted=interrupted, trouble=trouble)
        self.run = msgspec.structs.replace(run, end=end)
        if self._writer is not None:
            self._writer.write(end)
            self._writer.close()
        hooks.pytest_rmq_finish(run=self.run)
        return end


def chosen_profile(order: Order) -> str:
    """The profile of the order, or the one that fits its target.

    Raises:
        UsageProblem: there is no such profile.
    """
    known = [profile.name for profile in catalogue().of(order.role).profiles]
    if order.profile in known:
        return order.profile
    if order.profile:
        close = nearest(order.profile, known)
        meant = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"
        raise UsageProblem(f"--profile {order.profile}: no such profile of a {order.role}; {meant}")
    line = order.parsed().line or known[-1]
    if line not in known:
        raise UsageProblem(
            f"{order.target}: there is no profile {line} of a {order.role}; say --profile with one of "
            f"{', '.join(known)}"
        )
    return line


def known_quirks(order: Order) -> tuple[str, tuple[Quirk, ...]]:
    """The known server whose quirks the order looks for, as `NAME@VERSION`, and those quirks.

    Raises:
        UsageProblem: no such server is known.
    """
    asked = order.quirks or order.parsed().server or NO_QUIRKS
    if asked == NO_QUIRKS:
        return "", ()
    name, _, version = asked.partition("@")
    of_role = catalogue().of(order.role)
    server = of_role.server(name)
    known = [one.name for one in of_role.servers]
    if server is None or not version[:1].isdigit():
        forms = ", ".join(f"{one}@VERSION" for one in known)
        close = nearest(name, known) if server is None else []
        meant = f"; did you mean {close[0]}?" if close else ""
        raise UsageProblem(f"--quirks {asked}: expected {NO_QUIRKS} or one of {forms}{meant}")
    return asked, server.quirks_of(version)


def with_baseline(order: Order, file: Path) -> tuple[Order, tuple[Entry, ...]]:
    """The order with what counts in it of a file of known failures, and all entries of that file.

    Raises:
        BaselineError: the file cannot be used.
        UsageProblem: there is no such profile.
    """
    of_role = catalogue().of(order.role)
    entries = read(file, [profile.name for profile in of_role.profiles])
    baseline = in_force(
        str(file),
        entries,
        catalogue=of_role,
        loaded=loaded_cases(order.role, unfinished=True),
        profile=chosen_profile(order),
        today=date.today(),
    )
    return msgspec.structs.replace(order, baseline=baseline), entries


def chosen_plan(order: Order) -> Plan:
    """The plan of an order.

    A run of the whole catalogue needs all of it to fit together. Where the user selected something, the rest
    may be unfinished, so that a chapter can be tried while it is written.

    Raises:
        UsageProblem: an option cannot mean anything.
        CatalogueProblems: catalogue and cases do not fit together.
    """
    profile = chosen_profile(order)
    known_quirks(order)
    loaded = loaded_cases(order.role, unfinished=bool(order.select))
    return plan(catalogue().of(order.role), loaded, profile, Choice(order.select, order.exclude, order.level))


def loaded_cases(role: Role, *, unfinished: bool) -> list[LoadedCase]:
    """Every case of this installation for servers of the role. They must fit catalogue and mutants, unless
    they may be `unfinished`.

    Raises:
        CatalogueProblems: with everything that does not fit.
    """
    try:
        loaded = cases(role=role)
    except CatalogueError as error:
        raise CatalogueProblems([error]) from None
    wrong = [] if unfinished else problems(catalogue().of(role), loaded, builtin.mutant_names(role))
    if wrong:
        raise CatalogueProblems(wrong)
    return loaded


# --- pytest: where the results come together ---


class Recording:
    """On the side that the user sees: takes results from reports, writes the record, says how it ended."""

    def __init__(self, config: pytest.Config, measurement: Measurement) -> None:
        self._hooks = config.hook
        self.measurement = measurement
        self._names = _names_by_node(measurement.plan)
        self._collected: dict[str, str] = {}
        self._own_failed = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """(xdist) Tells a worker what to do, and where the target is."""
        node.workerinput["rmq_order"] = msgspec.json.encode(self.measurement.order).decode()
        node.workerinput["rmq_profile"] = self.measurement.plan.profile
        node.workerinput["rmq_shared"] = self.measurement.instance.shared()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not session.config.pluginmanager.has_plugin("dsession"):
            self._begin([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        self._begin(ids)

    def _begin(self, nodes: Iterable[str]) -> None:
        if self.measurement.run is None:
            self._collected = {node: self._names[key] for node in nodes if (key := _key(node)) in self._names}
            self.measurement.begin(self._collected.values(), self._hooks)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = [value for name, value in report.user_properties if name == PROPERTY]
        if found:
            self.measurement.add(msgspec.json.decode(str(found[0]), type=CaseResult), self._hooks)
        elif report.failed and (name := self._names.get(_key(report.nodeid))):
            self.measurement.add(self._crashed(name, report), self._hooks)
        elif report.failed:
            self._own_failed = True

    def _crashed(self, name: str, report: pytest.TestReport) -> CaseResult:
        """The result of a case that pytest could not run to its end (a worker that died)."""
        planned = next(one for one in self.measurement.plan.planned if one.name == name)
        return CaseResult(
            case=name,
            statements=planned.statements,
            chapter=planned.chapter,
            level=planned.level,
            verdict=Verdict.ERROR,
            begun=0.0,
            seconds=report.duration,
            title=planned.title,
            reason="the process that ran the case did not get to its end",
            detail=report.longreprtext,
        )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        interrupted = int(exitstatus) == pytest.ExitCode.INTERRUPTED
        internal = int(exitstatus) == pytest.ExitCode.INTERNAL_ERROR
        trouble = "pytest failed inside; its message is above" if internal else ""
        end = self.measurement.finish(self._hooks, interrupted=interrupted, trouble=trouble)
        session.exitstatus = end.exit_status or int(self._own_failed)
        self.measurement.instance.stop()


# --- pytest: where the cases run ---


class Measuring:
    """Where the cases run: in the one process, or in each worker of `-n`."""

    def __init__(self, order: Order, chosen: Plan, instance: Instance, *, shares: bool = False) -> None:
        """`shares`: other workers take a part of the cases, and one of them those that wait together."""
        self.instance = instance
        self._shares = shares
        self.profile = chosen.profile
        self._plan = chosen
        self._cases = {_case_key(one): one for one in chosen.cases}
        self._order = {one.name: number for number, one in enumerate(chosen.cases)}
        self._allure = order.allure
        self._judged = ROLE_NAMES[order.role]
        self._out = Path(order.out) if order.out else None
        target = order.parsed()
        setting = Setting(
            catalogue().of(order.role),
            chosen.profile,
            order.target,
            role=order.role,
            strict=order.strict,
            quirks=known_quirks(order)[1],
            baseline=order.baseline,
            deadline=order.deadline,
            waiting=_waiting(target, instance.clock.kind),
            out=self._out,
        )
        self._runner = Runner(setting, instance, target.another, () if shares else chosen.cases)
        waiting = [one for one in chosen.cases if one.case.clock]
        self._together = Together(waiting, self._runner.run, self._runner.hopeless, instance.clock.kind)
        self._sane: bool | None = None

    def close(self) -> None:
        """Stops what was started for single cases."""
        self._runner.close()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept: list[pytest.Item] = []
        dropped: list[pytest.Item] = []
        for item in items:
            known = case_of(getattr(item, "function", None)) is None or _key(item.nodeid) in self._cases
            (kept if known else dropped).append(item)
        kept.sort(key=self._place)
        for item in kept:
            one = self._cases.get(_key(item.nodeid))
            if one is not None and one in self._together:
                # (xdist) One worker takes all of them, so that they share one wait.
                item.add_marker(pytest.mark.xdist_group("together"))
        if dropped:
            config.hook.pytest_deselected(items=dropped)
        items[:] = kept

    def _place(self, item: pytest.Item) -> tuple[int, int]:
        """Cases that wait in the background come after those that do not, just before the last chapter."""
        one = self._cases.get(_key(item.nodeid))
        if one is None:
            return (1, -1)
        stage = 2 if one in self._together else 1
        stage = 0 if one.chapter in FIRST else 3 if one.chapter in LAST else stage
        return (stage, self._order[one.name])

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        one = self._cases.get(_key(pyfuncitem.nodeid))
        if one is None or case_of(pyfuncitem.function) is None:
            return None
        result = self._measure(one)
        pyfuncitem.user_properties.append((PROPERTY, msgspec.json.encode(result).decode()))
        if self._allure:
            decorate(result, profile=self.profile, judged=self._judged, directory=self._out)
        _tell_pytest(result)
        return True

    def _measure(self, one: LoadedCase) -> CaseResult:
        if one.chapter in FIRST:
            result = self._runner.run(one)
            self._judge_sanity(one, result)
            return result
        self._be_sane()
        if not self._shares:
            self._together.start()
            if self.instance.clock.kind != "virtual":  # else starting takes no time
                self._runner.look_ahead()
        return self._together.result(one) if one in self._together else self._runner.run(one)

    def _be_sane(self) -> None:
        """A worker that was not given the first case itself tries it before its first other one."""
        if self._sane is None:
            self._sane = True
            for one in self._plan.cases:
                if one.chapter in FIRST:
                    self._judge_sanity(one, self._runner.run(one))

    def _judge_sanity(self, one: LoadedCase, result: CaseResult) -> None:
        self._sane = result.verdict is Verdict.PASS
        if not self._sane:
            why = result.failure.actual.split("\n")[0] if result.failure else result.reason
            self._runner.blocked = f"{one.name} came to {result.verdict}: {why}"


def _waiting(target: Target, kind: ClockKind) -> Waiting:
    return Waiting.APART if target.waits_alone and kind != "virtual" else Waiting.AMONG_OTHERS


def _tell_pytest(result: CaseResult) -> None:
    """The verdict in pytest's words, for its own reporters."""
    if result.verdict in _PASSED:
        return
    if result.verdict in (Verdict.UNSUPPORTED, Verdict.BLOCKED):
        pytest.skip(f"{result.verdict}: {result.reason}")
    if result.verdict in (Verdict.QUIRK, Verdict.XFAIL):
        pytest.xfail(f"{result.quirk or result.verdict}: {result.reason}")
    if result.failure is None:
        pytest.fail(f"{result.verdict}: {result.reason}\n{result.detail}", pytrace=False)
    failure = result.failure
    lines = [
        f"{failure.statement} ({result.level})",
        failure.text,
        f"expected   {failure.expected}",
        f"actual     {failure.actual}",
        f"frame      {failure.where}",
        f"source     {'; '.join(failure.source)}",
        f"replay     {failure.replay}",
    ]
    pytest.fail("\n".join(lines), pytrace=False)


# --- pytest: options and start ---


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rmq-harness", "conformance of a RocketMQ NameServer")
    group.addoption(
        "--select", action="append", default=[], metavar="ID", help="only these statements or cases"
    )
    group.addoption(
        "--exclude", action="append", default=[], metavar="ID", help="not these statements or cases"
    )
    group.addoption(
        "--level", choices=[level.lower() for level in LEVELS], help="this level and stricter ones"
    )
    group.addoption("--strict-should", action="store_true", help="a broken SHOULD fails")
    group.addoption("--quirks", default="", metavar="NAME@VERSION", help="judge it as this known server")
    group.addoption("--baseline", type=Path, metavar="FILE", help="failures that are known (YAML)")
    group.addoption("--deadline", type=float, default=DEADLINE, metavar="S", help="real seconds for one case")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)
    if not pluginmanager.is_registered(pytest_fixtures):
        pluginmanager.register(pytest_fixtures, pytest_fixtures.__name__)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    try:
        _configure(config)
    except CatalogueProblems as error:
        raise pytest.UsageError(*[str(problem) for problem in error.problems]) from None
    except (UsageProblem, TargetError, BaselineError) as error:
        raise pytest.UsageError(str(error)) from None


def _keep_environment_still(config: pytest.Config) -> None:
    """No variable comes and goes with each case: threads that start servers read the environment meanwhile,
    and the standard library does not survive a variable that goes while it looks (``urllib``'s proxies).
    """
    patch = pytest.MonkeyPatch()
    patch.setattr("_pytest.runner._update_current_test_var", lambda _item, _when: None, raising=False)
    config.add_cleanup(patch.undo)


def _configure(config: pytest.Config) -> None:
    _keep_environment_still(config)
    sent = getattr(config, "workerinput", None)
    if sent is not None:
        if "rmq_order" not in sent:
            return
        order = msgspec.json.decode(sent["rmq_order"], type=Order)
        shared = sent["rmq_shared"]
        instance = order.parsed().start() if shared is None else attach(shared)
        measuring = Measuring(order, chosen_plan(order), instance, shares=True)
        config.pluginmanager.register(measuring, "rmq-measuring")
        config.add_cleanup(instance.stop)
        config.add_cleanup(measuring.close)
        return
    if config.option.help or config.option.version:
        return
    measurement = config.stash.get(MEASUREMENT, None)
    if measurement is None:
        if not _names_cases(config):
            return
        measurement = _from_options(config)
    config.pluginmanager.register(Recording(config, measurement), "rmq-recording")
    if not getattr(config.option, "tx", None):
        measuring = Measuring(measurement.order, measurement.plan, measurement.instance)
        config.pluginmanager.register(measuring, "rmq-measuring")
        config.add_cleanup(measuring.close)
    config.add_cleanup(measurement.instance.stop)


MEASUREMENT = pytest.StashKey[Measurement]()


def _names_cases(config: pytest.Config) -> bool:
    """Whether the user asks for cases: by their package, or a file of it."""
    package = Path(conformance.__file__).parent
    for argument in config.args:
        name = argument.partition("::")[0]
        path = (config.invocation_params.dir / name).resolve()
        if name.split(".")[:2] == ["harness", "conformance"] or path.is_relative_to(package):
            return True
    return False


def _from_options(config: pytest.Config) -> Measurement:
    option = config.option
    target, profile = pytest_fixtures.order(config)
    order = Order(
        target=target,
        role=pytest_fixtures.role_of(config),
        nameserver=option.nameserver,
        profile=profile,
        select=tuple(option.select),
        exclude=tuple(option.exclude),
        level=cast("Level | None", option.level and option.level.upper()),
        strict=option.strict_should,
        quirks=option.quirks,
        deadline=option.deadline,
        out=str(option.rmq_out.resolve()) if option.rmq_out else "",
        command=("pytest", *config.invocation_params.args),
    )
    if option.baseline:
        order, _ = with_baseline(order, option.baseline)
    chosen = chosen_plan(order)
    if chosen.unmatched:
        raise UsageProblem("; ".join(chosen.unmatched))
    return Measurement(order, chosen, order.parsed().start())


def _names_by_node(chosen: Plan) -> dict[str, str]:
    return {_case_key(one): one.name for one in chosen.cases}


def _case_key(one: LoadedCase) -> str:
    place, _, module = one.function.__module__.rpartition(".")
    return f"{'broker/' if place.endswith('.broker') else ''}{module}::{one.case.name}"


def _key(node: str) -> str:
    """`test_lease::test_x` or `broker/test_pull::test_y` of a node id, whatever its group of xdist."""
    path, _, function = node.partition("@")[0].partition("::")
    return f"{'broker/' if Path(path).parent.name == 'broker' else ''}{Path(path).stem}::{function}"
