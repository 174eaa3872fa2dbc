"""`target`, `ns` and `bk`, for tests that users write themselves, beside the cases or without them.

* Nothing starts until a test asks for it; a run without such a test is pytest's alone.
* The target starts once in each process (of `-n`, too) and stops at the end. Cases in the same run share it.
  With `--role broker` it is a Broker, which a test that takes `bk` needs.
* A test has a session of its own, closed at its end. A test that passed must have judged all its requests.
* A test that fails shows the end of its trace, and where the whole trace is.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from harness.catalogue import ROLES, Role, catalogue
from harness.conformance import case_of
from harness.conformance.sessions import session_of
from harness.report.frames import as_text
from harness.session import Instance, Session, Unmet, Unsupported
from harness.targets import Target, TargetError, parse
from harness.trace import write_trace
from harness.version import version

MOMENTS = 12
"""How many events a failure shows of the end of a trace."""

_SESSION = pytest.StashKey[Session]()
_TRACE = pytest.StashKey[Path]()
_PASSED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The server, on the command line or in the configuration of pytest."""
    group = parser.getgroup("rmq-harness", "conformance of a RocketMQ NameServer or Broker")
    group.addoption(
        "--role",
        "--rmq-role",
        dest="role",
        choices=ROLES,
        default="",
        help="what the target is: nameserver (default), broker; or rmq_role in the configuration",
    )
    group.addoption(
        "--nameserver",
        default="",
        metavar="HOST:PORT",
        help="where a Broker at tcp:// looks for a NameServer",
    )
    group.addoption(
        "--target",
        "--rmq-target",
        dest="target",
        default="",
        metavar="URI",
        help="builtin: (default), tcp://H:P, exec:…, apache:V; or rmq_target in the configuration",
    )
    group.addoption(
        "--profile",
        "--rmq-profile",
        dest="profile",
        default="",
        metavar="P",
        help="which statements apply (4.9, 5.3, 5.5); or rmq_profile in the configuration",
    )
    group.addoption("--rmq-out", type=Path, metavar="DIR", help="where results.jsonl and traces go")
    parser.addini("rmq_target", "the server that is tested: a URI as for --target", default="")
    parser.addini("rmq_role", "what the target is, as for --role", default="nameserver")
    parser.addini("rmq_profile", "which statements apply, as for --profile", default="")


def target_and_profile(config: pytest.Config) -> tuple[str, str]:
    """URI and profile of the target; the profile is empty where none was named."""
    uri = config.option.target or config.getini("rmq_target") or "builtin:"
    return uri, config.option.profile or config.getini("rmq_profile")


def role_of(config: pytest.Config) -> Role:
    """The role of the target."""
    role: Role = config.option.role or config.getini("rmq_role")
    if role not in ROLES:
        raise pytest.UsageError(f"rmq_role: {role!r}; there are {', '.join(ROLES)}")
    return role


@pytest.fixture(scope="session")
def target(request: pytest.FixtureRequest) -> Generator[Instance]:
    """The server of `--target` or `rmq_target`, running."""
    measuring: Any = request.config.pluginmanager.get_plugin("rmq-measuring")
    if measuring is not None:
        yield measuring.instance
        return
    try:
        instance = _target_of(request.config).start()
    except TargetError as problem:
        pytest.fail(f"the target could not be started\n{problem}", pytrace=False)
    yield instance
    instance.stop()


def _target_of(config: pytest.Config) -> Target:
    return parse(target_and_profile(config)[0], role_of(config), config.option.nameserver)


@pytest.fixture
def ns(request: pytest.FixtureRequest) -> Generator[Session | None]:
    """A session with the target, with names of its own. A case gets its own where it runs."""
    yield from _session(request, "nameserver")


@pytest.fixture
def bk(request: pytest.FixtureRequest) -> Generator[Session | None]:
    """As `ns`, with a target that is a Broker."""
    yield from _session(request, "broker")


@pytest.fixture
def peer(request: pytest.FixtureRequest) -> Generator[Session | None]:
    """As `ns`, with a target that is either."""
    yield from _session(request, role_of(request.config))


def _session(request: pytest.FixtureRequest, role: Role) -> Generator[Session | None]:
    if case_of(request.function) is not None:
        yield None
        return
    if role != role_of(request.config):
        pytest.fail(
            f"the test needs a {role}, and the target is a {role_of(request.config)}: say --role {role}",
            pytrace=False,
        )
    instance: Instance = request.getfixturevalue("target")
    uri, named = target_and_profile(request.config)
    profiles = catalogue().of(role).profiles
    profile = named or _target_of(request.config).line or profiles[-1].name
    if profile not in (known := [one.name for one in profiles]):
        pytest.fail(f"profile {profile!r} does not exist; there are {', '.join(known)}", pytrace=False)
    item, option = request.node, request.config.option
    directory = option.rmq_out or request.getfixturevalue("tmp_path_factory").getbasetemp() / "rmq"
    name = re.sub(r"[^\w.-]+", "-", item.name)
    item.stash[_TRACE] = directory / "traces" / f"{name}.trace"
    session = item.stash[_SESSION] = session_of(
        role, instance, profile, case=item.name, target=uri, suite=version()
    )
    try:
        yield session
    finally:
        session.close()
    if item.stash.get(_PASSED, False):
        session.finish()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Skips a test that needs what the target cannot do, with the reason."""
    try:
        return (yield)
    except Unsupported as problem:
        if _SESSION in pyfuncitem.stash:
            pytest.skip(f"unsupported: {problem}")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure of a test with a session shows the frame that decided it, and the end of its trace."""
    report = yield
    session = item.stash.get(_SESSION, None)
    if session is not None and call.when == "call":
        item.stash[_PASSED] = report.passed
        if report.failed and call.excinfo is not None:
            path = item.stash[_TRACE]
            write_trace(path, session.trace)
            report.sections.append(("rmq-harness", _failure_section(session, call.excinfo.value, path)))
    return report


def _failure_section(session: Session, problem: BaseException, path: Path) -> str:
    lines = []
    decisive = problem.decisive if isinstance(problem, Unmet) else None
    if decisive is not None:
        lines += [f"frame   {decisive}"]
    shown = as_text(session.trace.events, decisive.event if decisive else None).splitlines()
    if len(shown) > MOMENTS:
        lines.append(f"… {len(shown) - MOMENTS} moments before")
    lines += shown[-MOMENTS:]
    lines += [f"trace   {path}", f"decode  rmq-harness decode {path}", f"replay  rmq-harness replay {path}"]
    return "\n".join(lines)
