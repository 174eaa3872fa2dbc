"""Whether a Broker is a master or a slave, and what it refuses as a slave.

- A change of the role (code 25) is there when it is answered, and may be there from its beginning on. What
  was under way meanwhile is judged as of neither.
- A Broker that is started again while it is not surely what it was started as may be either: Apache's has
  written its role into its configuration file, the reference has not.
- What a slave has refused was not done. Busy (2) may be said by anybody, so where time is real it proves
  nothing.
"""

from __future__ import annotations

from math import inf
from typing import Final

from harness.catalogue import Profile
from harness.program.broker import steps as bk
from harness.program.step import Request
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.regular_register import RegularRegister
from harness.wire import Command, ResponseCode

_MASTER, _SLAVE, _EITHER = 0, 1, 2
_FIRST = -1e9
"""Before all else."""
_BUSY: Final = ResponseCode.SYSTEM_BUSY
_CLOSED: Final = ResponseCode.SERVICE_NOT_AVAILABLE
_ENDING: Final = "demoted-ends-no-transaction"
_REFUSALS: Final[dict[bool, dict[type[Request], tuple[int, str]]]] = {
    False: {
        bk.Send: (_CLOSED, "demoted-is-not-available"),
        bk.End: (11, _ENDING),
        bk.Back: (1, "demoted-takes-nothing-back"),
        bk.MakeTopic: (1, "demoted-changes-no-topic"),
        bk.DropTopic: (1, "demoted-changes-no-topic"),
    },
    True: {
        bk.Send: (_BUSY, "demoted-is-busy"),
        bk.End: (11, _ENDING),
        bk.Back: (_BUSY, "demoted-takes-nothing-back"),
        bk.Pull: (_BUSY, "demoted-is-not-read-from"),
    },
}
"""Without ``busy-slaves`` and with it: what a slave refuses, with which code, and the invariant about it."""
_BEHIND: Final[dict[type[Request], str]] = {
    bk.End: "promoted-ends-transactions",
    bk.Pull: "promoted-keeps-what-it-had",
}


class HaRole:
    """Of one Broker. ``exact``: time is virtual, and a Broker is busy only where it says so. ``slave``: it is
    started as a slave that may be read from.
    """

    def __init__(self, line: Profile, *, exact: bool, held: set[str], slave: bool = False) -> None:
        self._refusals = dict(_REFUSALS[line.has("busy-slaves")])
        self._exact = exact
        self._held = held
        self._roles = RegularRegister()
        self._started_as = _SLAVE if slave else _MASTER
        if slave:
            self._roles.write(_SLAVE, _FIRST, _FIRST, "start")
            self._refusals.pop(bk.Pull, None)
        self.was_slave = slave
        """Whether it ever was one, or may have been."""

    def is_master(self, begin: float, end: float) -> bool:
        """Whether it surely was one all the while."""
        return all(one.value in (None, _MASTER) for one in self._roles.possible(begin, end))

    def is_slave(self, begin: float, end: float) -> bool:
        """The same."""
        return all(one.value == _SLAVE for one in self._roles.possible(begin, end))

    def switched(self, step: bk.Switch, begin: float, end: float, answer: Command | None) -> bool:
        """25. Whether it surely came to pass."""
        if answer is not None and answer.code != 0:
            if answer.code != _BUSY:
                raise InvariantError("role-is-changed", "SUCCESS", f"code {answer.code}, {answer.remark}")
            return False
        if answer is not None:
            self._held.add("role-is-changed")
        role = _SLAVE if step.role == "slave" else _MASTER
        self._roles.write(role, begin, end if answer is not None else inf, "switch")
        self.was_slave = self.was_slave or role == _SLAVE
        return answer is not None

    def restarted(self, begin: float, end: float) -> bool:
        """It was ended and started again. Whether it surely is a master."""
        if self._started_as == _MASTER and self.is_master(begin, begin):
            return True
        if self._started_as == _SLAVE and self.is_slave(begin, begin):
            return False
        self._roles.write(_EITHER, begin, end, "restart")
        return False

    def refuses(self, step: Request, begin: float, end: float, answer: Command | None) -> bool:
        """Whether a slave has refused a request, so that nothing came of it. Raises `InvariantError`."""
        code, name = self._refusals.get(type(step), (None, ""))
        is_read = code is None and isinstance(step, bk.Pull) and self.is_slave(begin, end)
        self._held |= {"demoted-is-read-from"} if is_read and self._exact else set()
        if is_read and self._is_busy(answer):
            raise InvariantError("demoted-is-read-from", "messages, or that there are none", f"code {_BUSY}")
        if code is None or step.oneway or answer is None:
            return code is not None and step.oneway and self._exact and self.is_slave(begin, end)
        if self.is_master(begin, end):
            is_refusal = self._is_busy(answer) if code == _BUSY else answer.code == code > _BUSY
            name = _BEHIND.get(type(step), "promoted-takes-messages")
            self._held |= {name} if self.was_slave and (self._exact or code > _BUSY) else set()
            if self.was_slave and is_refusal:
                raise InvariantError(
                    name, "what a master answers: it is one again", f"code {code}, {answer.remark}"
                )
            return False
        self._held |= {name} if self.is_slave(begin, end) else set()
        if answer.code == code:
            return True
        if self.is_slave(begin, end) and (answer.code == 0 or (name == _ENDING and answer.code != _BUSY)):
            raise InvariantError(name, f"code {code}: it is a slave", f"code {answer.code}, {answer.remark}")
        # Where it becomes a slave meanwhile, its store may refuse what the Broker has let pass.
        is_between = isinstance(step, bk.Send) and answer.code == _CLOSED and not self.is_slave(begin, end)
        return is_between or (isinstance(step, bk.Back) and answer.code != 0)

    def _is_busy(self, answer: Command | None) -> bool:
        """Whether busy was said, and where that proves something."""
        return self._exact and answer is not None and answer.code == _BUSY
