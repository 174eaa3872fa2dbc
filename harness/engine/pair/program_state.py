"""What should exist on a master and on its slave while a program is being made.

As in `harness.engine.broker.program_state`, which the state of each of them is.
"""

from __future__ import annotations

from harness.engine.broker.program_state import ProgramState
from harness.program.broker import steps as bk
from harness.program.broker.pair_steps import Part, Replicate, TakeOver
from harness.program.step import Restart, Time
from harness.program.steps import AnyStep


class PairState(ProgramState):
    """That of the master; that of the slave is a part of it."""

    def __init__(self, profile: str) -> None:
        super().__init__(profile)
        self.servers = 2
        self.slave = ProgramState(profile)
        self.slave.is_slave = True
        self.was_connected = False
        """Whether the slave has ever been connected."""
        self.is_connected = False
        self.is_half = False
        """Whether the slave may have the beginning of a message."""
        self.is_promoted = False
        """Whether the slave has become a master of its own."""
        self.taken_over: set[tuple[str, str, int]] = set()
        """By group, topic and queue: the offsets that the slave has from its master."""

    def apply(self, step: AnyStep) -> None:
        server = getattr(step, "server", 0)
        match step:
            case Time():
                self.slave.apply(step)
                super().apply(step)
                return
            case Replicate():
                self._replicated(step)
                return
            case TakeOver():
                if not self.is_promoted:
                    self.slave.offsets |= self.offsets
                    self.taken_over |= set(self.offsets)
                return
            case Part():
                self.is_connected = False
                return
            case Restart():
                self.is_connected = False
                self.is_half = self.is_half and not server
            case bk.Send():
                self.note_symbols(step)  # of both
            case bk.Switch() if server:
                self.is_promoted = step.role == "master" and self.was_connected
        if server:
            self.slave.apply(step)
        else:
            super().apply(step)

    def facts(self) -> object:
        links = (self.was_connected, self.is_connected, self.is_half, self.is_promoted)
        return super().facts(), self.slave.facts(), links, sorted(self.taken_over)

    def _replicated(self, step: Replicate) -> None:
        if self.is_promoted:
            return
        self.was_connected = self.is_connected = True
        self.is_half = step.most is not None
        if step.most is None:
            self.slave.messages = dict(self.messages)
            self.slave.due = [*self.due]
            self.slave.returned = dict(self.returned)
            self.slave.dead = set(self.dead)
            self.slave.verdicts = {
                message: [*verdicts]
                for message, verdicts in self.verdicts.items()
                if self.messages[message].topic in self.slave.topics
            }
            self.slave.stored = {
                key: count for key, count in self.stored.items() if key[0] in self.slave.topics
            }
