"""From pytest's options to those of `check`."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from harness import conformance, pytest_fixtures
from harness.catalogue import LEVELS, Level
from harness.conformance.case_run import DEADLINE
from harness.conformance.plan import CheckOptions, with_baseline


def add_options(parser: pytest.Parser) -> None:
    """Adds the options that only cases have; `harness.pytest_fixtures` adds the rest."""
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


def asks_for_cases(config: pytest.Config) -> bool:
    """Whether the arguments name cases: their package, or a file of it."""
    package = Path(conformance.__file__).parent
    for argument in config.args:
        name = argument.partition("::")[0]
        path = (config.invocation_params.dir / name).resolve()
        if name.split(".")[:2] == ["harness", "conformance"] or path.is_relative_to(package):
            return True
    return False


def check_options(config: pytest.Config) -> CheckOptions:
    """The options of `check` that pytest's say."""
    option = config.option
    target, profile = pytest_fixtures.target_and_profile(config)
    options = CheckOptions(
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
    return with_baseline(options, option.baseline)[0] if option.baseline else options
