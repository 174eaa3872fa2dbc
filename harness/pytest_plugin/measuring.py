"""The side that runs cases, in the only process or in a worker of `-n`: turns pytest items into cases."""

from __future__ import annotations

import msgspec
import pytest

from harness.conformance import case_of
from harness.conformance.layout import key_of_node
from harness.conformance.loading import LoadedCase
from harness.conformance.measuring import Measuring
from harness.conformance.plan import Plan
from harness.report.allure import decorate
from harness.report.results import ROLE_NAMES, CaseResult, Verdict
from harness.session import Instance

PROPERTY = "rmq-result"
"""The user property of a report that carries a result, as JSON, from a worker."""
_PASSED = (Verdict.PASS, Verdict.DEVIATES, Verdict.OBSERVED)


class MeasuringItems:
    """Orders the items of a plan, and measures their cases."""

    def __init__(self, plan: Plan, instance: Instance, *, shares: bool = False) -> None:
        """`shares`: other workers take a part of the cases."""
        self.instance = instance
        self._plan = plan
        self._measuring = Measuring(plan, instance, shares=shares)
        self._cases = {one.key: one for one in plan.selection.cases}

    def close(self) -> None:
        """Stops what was started for single cases."""
        self._measuring.close()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept: list[pytest.Item] = []
        dropped: list[pytest.Item] = []
        for item in items:
            is_case = case_of(getattr(item, "function", None)) is not None
            (dropped if is_case and self._case(item) is None else kept).append(item)
        kept.sort(key=self._place)
        for item in kept:
            one = self._case(item)
            if one is not None and self._measuring.is_concurrent(one):
                # (xdist) One worker takes all of them, so that they share one wait.
                item.add_marker(pytest.mark.xdist_group("concurrent"))
        if dropped:
            config.hook.pytest_deselected(items=dropped)
        items[:] = kept

    def _case(self, item: pytest.Item) -> LoadedCase | None:
        return self._cases.get(key_of_node(item.nodeid))

    def _place(self, item: pytest.Item) -> tuple[int, int]:
        """Tests of the user's own come between the first cases and the others."""
        one = self._case(item)
        return (1, -1) if one is None else self._measuring.place(one)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        one = self._case(pyfuncitem)
        if one is None or case_of(pyfuncitem.function) is None:
            return None
        result = self._measuring.measure(one)
        pyfuncitem.user_properties.append((PROPERTY, msgspec.json.encode(result).decode()))
        options = self._plan.options
        if options.allure:
            decorate(
                result,
                profile=self._plan.selection.profile,
                judged=ROLE_NAMES[options.role],
                directory=options.directory,
            )
        _report(result)
        return True


def _report(result: CaseResult) -> None:
    """Ends the item with the outcome of pytest that the verdict comes to."""
    if result.verdict in _PASSED:
        return
    if result.verdict in (Verdict.UNSUPPORTED, Verdict.LATER, Verdict.BLOCKED):
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
