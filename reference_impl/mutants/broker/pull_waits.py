"""Mutants of the chapter pull: how many pulls wait, and for how long."""

from reference_impl.broker.long_polling import LongPolling
from reference_impl.broker.pulls import Pulls
from reference_impl.mutants.registry import mutant
from reference_impl.remoting.endpoint import RemotingEndpoint


@mutant(LongPolling.lost, "Pulls whose connection has ended count as waiting for ever.")
def lost_pulls_count(original, self, connection, now):
    before = self.count
    original(self, connection, now)
    self.count = before


@mutant(Pulls.wait, "A pull waits as long as it asks, also where longPollingEnable is false.")
def short_waits_are_long(original, self, asked):
    return asked.wait or 0


@mutant(LongPolling.period, "Waits end every 5 s, also where longPollingEnable is false.")
def short_waits_end_every_5_s(original, self):
    return 5_000


@mutant(RemotingEndpoint.push, "What the server sends later is no activity on its connection.")
def late_answers_are_no_activity(original, self, connection, frame):
    known = self._connections.get(connection)
    return [] if known is None else self._sending(connection, known, [frame])
