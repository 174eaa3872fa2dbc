"""Programs carried out on a running target, step by step, for the tests of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.model import Answered, Ended, Knowledge, Observed, Unanswered, Violation
from harness.program.frames import Names, frame_of
from harness.program.steps import AnyRequest, AnyStep, Close, Kv, Reconnect, Restart, Time
from harness.session import Instance, PeerReset, TransportTimeout
from harness.session.transport import Transport
from harness.wire import Command, FrameBuffer, decode

_PROBE = Kv(code=101, namespace="probe", key="probe")


class _Line:
    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.buffer = FrameBuffer()
        self.found: dict[int, Command] = {}
        self.ended = False

    def take(self, seconds: float) -> bool:
        if self.ended:
            return False
        try:
            data = self.transport.receive(seconds)
        except TransportTimeout:
            return False
        except PeerReset:
            data = b""
        if not data:
            self.ended = True
            self.transport.close("fin")
            return True
        self.buffer.feed(data)
        while (frame := self.buffer.next_frame()) is not None:
            command = decode(frame)
            self.found[command.opaque] = command
        return True


class Stage:
    """One target and what is open to it."""

    def __init__(self, instance: Instance, names: Names, announces: int) -> None:
        self._instance = instance
        self._names = names
        self._announces = announces
        self._lines: dict[str, _Line] = {}
        self._opaque = 0

    def play(self, steps: Sequence[AnyStep]) -> Iterator[Observed]:
        """Carries the steps out, one by one."""
        for number, step in enumerate(steps):
            yield self._step(number, step)

    def close(self) -> None:
        for line in self._lines.values():
            line.transport.close("fin")
        self._lines.clear()

    def _step(self, number: int, step: AnyStep) -> Observed:
        clock = self._instance.clock
        invoked = clock.now()
        outcome = None
        match step:
            case Time():
                clock.advance(step.seconds, lambda: self._busy(step.idle))
            case Close():
                line = self._lines.pop(step.conn, None)
                if line is not None and not line.ended:
                    line.transport.close(step.how)
            case Reconnect():
                if step.conn in self._lines:
                    self._lines[step.old] = self._lines.pop(step.conn)
            case Restart():
                self.close()
                self._instance.restart()
            case _:
                outcome = self._request(step)
        return Observed(number=number, step=step, invoked=invoked, returned=clock.now(), outcome=outcome)

    def _request(self, step: AnyRequest) -> Answered | Ended | Unanswered | None:
        opaque = self._send(step)
        if step.oneway:
            return None
        line = self._lines[step.conn]
        clock = self._instance.clock
        virtual = clock.kind == "virtual"
        probe = None
        end = clock.waiting() + (0.001 if virtual else 3.0)
        while opaque not in line.found:
            if line.ended:
                return Ended()
            if clock.waiting() > end:
                return Unanswered(surely=probe is not None and probe in line.found)
            if not line.take(0 if virtual else 0.05) and probe is None:
                probe = self._send(_PROBE, step.conn)
                line = self._lines[step.conn]
            elif probe is not None and probe in line.found and opaque not in line.found:
                line.take(0.15)
                if opaque not in line.found:
                    return Unanswered(surely=True)
        return Answered(line.found.pop(opaque))

    def _send(self, step: AnyRequest, conn: str | None = None) -> int:
        symbol = step.conn if conn is None else conn
        line = self._lines.get(symbol)
        if line is not None:
            line.take(0)
        if line is None or line.ended:
            line = self._lines[symbol] = _Line(self._instance.open())
        self._opaque += 1
        line.transport.send(frame_of(step, self._names, self._opaque, self._announces))
        return self._opaque

    def _busy(self, idle: Sequence[str]) -> None:
        asked = []
        for symbol, line in list(self._lines.items()):
            while line.take(0):
                pass
            if symbol not in idle and not line.ended:
                asked.append((line, self._send(_PROBE, symbol)))
        for line, opaque in asked:
            for _ in range(20):
                if opaque in line.found or line.ended or not line.take(0.1):
                    break


def violations_of(knowledge: Knowledge, observed: Iterator[Observed]) -> list[Violation]:
    """All violations of a program."""
    return [violation for seen in observed for violation in knowledge.observe(seen)]
