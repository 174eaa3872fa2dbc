"""Servers that treat nearly every request alike. A case that passes on one of them has judged nothing.

All but the last serve the probes: what a check sends first, and what it asks where nothing has come.
"""

from harness.wire import RequestCode, ResponseCode, WireError
from reference_impl.mutants.registry import family, mutant
from reference_impl.remoting.endpoint import RemotingEndpoint
from reference_impl.remoting.reply import Reply

_PROBES = {
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
    RequestCode.GET_ROUTEINFO_BY_TOPIC,
    RequestCode.GET_ALL_CONSUMER_OFFSET,
    RequestCode.HEART_BEAT,
}


@family(RemotingEndpoint.answer)
def others(rule, original, self, connection, frame, now):
    """What is done with every request that is no probe."""
    command = self.read(frame)
    if command.code in _PROBES or self.is_ignored(command):
        return original(self, connection, frame, now)
    reply = rule()
    if reply is None or self.is_unanswered(command):
        return None
    return self.write(self.response(command, reply))


@others("Every request but the probes closes its connection.")
def serves_probes_and_closes_on_others():
    raise WireError("this request is not served")


@others("Every request but the probes is dropped.")
def serves_probes_and_drops_others():
    return None


@others("Every request but the probes is refused with code 1.")
def serves_probes_and_refuses_others():
    return Reply(ResponseCode.SYSTEM_ERROR, remark="refused")


@mutant(RemotingEndpoint.answer, "Every request is answered with code 0, and none is carried out.")
def accepts_every_request(original, self, connection, frame, now):
    command = self.read(frame)
    if self.is_ignored(command) or self.is_unanswered(command):
        return None
    return self.write(self.response(command, Reply(ResponseCode.SUCCESS)))
