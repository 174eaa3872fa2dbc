"""Runs the conformance cases under pytest: for `rmq-harness check`, and as a plug-in of plain pytest.

    pytest --pyargs harness.conformance -p harness.pytest_plugin --target tcp://127.0.0.1:9876 --profile 5.3

pytest collects, distributes (`-n`) and reports. What runs, in which order, and what a case comes to is
decided in `harness.conformance`; this package translates options into `CheckOptions`, a plan into items,
results into events.

* Cases are measured where they are named (`harness.conformance`, or a file of it). Any other run is pytest's
  own: nothing is started, nothing is added to it but the fixtures of `harness.pytest_fixtures`.
* The target is started once. Workers of `-n` attach to it, except to one that lives in the process.
* A result travels from a worker as a JSON record in the report's user properties.
* To follow a run, implement the hooks of `events.Hooks`.
* The exit status is that of `harness.report.verdicts`, not pytest's; where the cases come to 0 and a test of
  the user's own has failed, it is 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from harness import pytest_fixtures
from harness.catalogue import CatalogueProblems
from harness.conformance.baseline import BaselineError
from harness.conformance.plan import CheckOptions, CheckOptionsError, plan
from harness.conformance.record import CheckRecord
from harness.pytest_plugin.events import Hooks
from harness.pytest_plugin.measuring import MeasuringItems
from harness.pytest_plugin.options import add_options, asks_for_cases, check_options
from harness.pytest_plugin.recording import Recording
from harness.targets import TargetError, attach

RECORD = pytest.StashKey[CheckRecord]()
"""Where a caller of pytest leaves the record of a plan whose target it has started."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)
    if not pluginmanager.is_registered(pytest_fixtures):
        pluginmanager.register(pytest_fixtures, pytest_fixtures.__name__)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    _keep_environment_still(config)
    try:
        _configure(config)
    except CatalogueProblems as error:
        raise pytest.UsageError(*[str(problem) for problem in error.problems]) from None
    except (CheckOptionsError, TargetError, BaselineError) as error:
        raise pytest.UsageError(str(error)) from None


def _keep_environment_still(config: pytest.Config) -> None:
    """Keeps pytest from setting a variable for each test. Threads that start servers read the environment
    meanwhile, and the standard library fails on a variable that goes while it looks (``urllib``'s proxies).
    """
    patch = pytest.MonkeyPatch()
    patch.setattr("_pytest.runner._update_current_test_var", lambda _item, _when: None, raising=False)
    config.add_cleanup(patch.undo)


def _configure(config: pytest.Config) -> None:
    worker_input = getattr(config, "workerinput", None)
    if worker_input is not None:
        if "rmq_options" in worker_input:
            _configure_worker(config, worker_input["rmq_options"], worker_input["rmq_shared"])
        return
    if config.option.help or config.option.version:
        return
    record = config.stash.get(RECORD, None)
    if record is None:
        if not asks_for_cases(config):
            return
        record = _started(check_options(config))
        for sentence in record.plan.renamed:
            config.issue_config_time_warning(pytest.PytestConfigWarning(sentence), stacklevel=2)
    config.pluginmanager.register(Recording(config, record), "rmq-recording")
    if not getattr(config.option, "tx", None):
        _measure(config, MeasuringItems(record.plan, record.instance))
    config.add_cleanup(record.instance.stop)


def _configure_worker(
    config: pytest.Config, options: str, shared: Mapping[str, str | int | float] | None
) -> None:
    chosen = plan(msgspec.json.decode(options, type=CheckOptions))
    instance = chosen.target.start() if shared is None else attach(shared)
    config.add_cleanup(instance.stop)
    _measure(config, MeasuringItems(chosen, instance, shares=True))


def _measure(config: pytest.Config, items: MeasuringItems) -> None:
    config.pluginmanager.register(items, "rmq-measuring")
    config.add_cleanup(items.close)


def _started(options: CheckOptions) -> CheckRecord:
    chosen = plan(options)
    if chosen.selection.unmatched:
        raise CheckOptionsError("; ".join(chosen.selection.unmatched))
    return CheckRecord(chosen, chosen.target.start())
