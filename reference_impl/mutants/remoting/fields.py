"""Servers that read ext fields, and members of bodies, in a way of their own."""

import json

from msgspec.structs import replace

from harness.wire import ResponseCode
from harness.wire.requests import REQUESTS
from reference_impl.mutants.registry import mutant
from reference_impl.remoting.endpoint import RemotingEndpoint
from reference_impl.remoting.reply import Reply


@mutant(RemotingEndpoint.read, "The names of ext fields are read in any case.")
def names_of_fields_are_read_in_any_case(original, self, frame):
    command = original(self, frame)
    if command.code not in REQUESTS or not command.ext:
        return command
    known = {name.lower(): name for name in REQUESTS[command.code].fields}
    return replace(command, ext={known.get(name.lower(), name): text for name, text in command.ext.items()})


@mutant(RemotingEndpoint.answer, "A request with an ext field that is one blank is refused with code 2.")
def blank_fields_are_refused(original, self, connection, frame, now):
    command = self.read(frame)
    if self.is_ignored(command) or self.is_unanswered(command) or " " not in (command.ext or {}).values():
        return original(self, connection, frame, now)
    return self.write(self.response(command, Reply(ResponseCode.SYSTEM_BUSY, remark="a field is blank")))


@mutant(RemotingEndpoint.answer, "A body in which an object has a member twice is refused with code 2.")
def members_given_twice_are_refused(original, self, connection, frame, now):
    command = self.read(frame)
    if self.is_ignored(command) or self.is_unanswered(command) or not _has_a_member_twice(command.body):
        return original(self, connection, frame, now)
    return self.write(
        self.response(command, Reply(ResponseCode.SYSTEM_BUSY, remark="a member is there twice"))
    )


def _has_a_member_twice(body):
    twice = []

    def note(pairs):
        twice.extend(pairs[len(dict(pairs)) :])

    try:
        json.loads(body, object_pairs_hook=note)
    except ValueError:
        return False
    return bool(twice)
