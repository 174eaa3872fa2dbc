"""What a Broker was told to allow (25), as far as that is known.

Before it was told, and when it is started again, a Broker may allow or not: Apache's writes settings that
were changed into its configuration file, the reference does not.
"""

from __future__ import annotations

from collections import defaultdict
from math import inf

from harness.program.broker.optional_steps import Allow
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.regular_register import RegularRegister
from harness.wire import Command, ResponseCode


class Allowed:
    """By one Broker."""

    def __init__(self) -> None:
        self._registers: defaultdict[str, RegularRegister] = defaultdict(RegularRegister)

    def changed(self, step: Allow, begin: float, end: float, answer: Command | None) -> None:
        """25."""
        if answer is not None and answer.code not in (ResponseCode.SUCCESS, ResponseCode.SYSTEM_BUSY):
            raise InvariantError("settings-change", "code 0", f"code {answer.code}, {answer.remark}")
        is_sure = answer is not None and answer.code == 0
        self._registers[step.what].write(int(step.allowed), begin, end if is_sure else inf, "allow")

    def restarted(self, begin: float, end: float) -> None:
        """It was ended and started again."""
        for register in self._registers.values():
            register.write(None, begin, end, "restart")

    def allows(self, what: str, begin: float, end: float) -> bool | None:
        """Whether something was allowed all the while, or was not; None: that is not known."""
        values = {one.value for one in self._registers[what].possible(begin, end)}
        return bool(values.pop()) if values in ({0}, {1}) else None
