"""Faults of texts beyond ASCII, and of values that differ from every default."""

import msgspec

from harness.wire import RequestCode
from reference_impl.broker.clients import Clients
from reference_impl.broker.core import Broker
from reference_impl.broker.retries import Retries
from reference_impl.mutants.registry import family, mutant


def read_otherwise(code, description):
    """Read every text of requests of this code as the function says: ext fields, and the body as a whole."""

    @family(Broker.execute)
    def execute(rule, original, self, command, connection, now):
        if command.code == code:
            ext = {name: text and rule(text) for name, text in (command.ext or {}).items()}
            body = rule(command.body.decode(errors="replace")).encode()
            command = msgspec.structs.replace(command, ext=ext, body=body)
        return original(self, command, connection, now)

    return execute(description)


def _ascii(text):
    """As a server has it that knows no other characters."""
    return text.encode("ascii", "replace").decode()


@read_otherwise(RequestCode.HEART_BEAT, "Heartbeats are read as ASCII.")
def clients_have_ascii_names(text):
    return _ascii(text)


@read_otherwise(RequestCode.LOCK_BATCH_MQ, "A client that locks queues is known by an ASCII name.")
def locks_are_of_ascii_names(text):
    return _ascii(text)


@read_otherwise(RequestCode.UNLOCK_BATCH_MQ, "A client that gives up locks is known by an ASCII name.")
def unlocking_clients_have_ascii_names(text):
    return _ascii(text)


@read_otherwise(RequestCode.GET_CONSUMER_RUNNING_INFO, "307 finds clients by ASCII names.")
def questions_are_for_ascii_names(text):
    return _ascii(text)


@read_otherwise(RequestCode.GET_CONSUMER_RUNNING_INFO, "307 always asks for stacks.")
def stacks_are_always_asked_for(text):
    return "true" if text == "false" else text


@read_otherwise(RequestCode.CONSUME_MESSAGE_DIRECTLY, "309 finds clients by ASCII names.")
def messages_go_to_ascii_names(text):
    return _ascii(text)


@read_otherwise(RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, "223 finds clients by ASCII names.")
def status_is_of_ascii_names(text):
    return _ascii(text)


@read_otherwise(RequestCode.PULL_MESSAGE, "Tags in pulls are read as ASCII.")
def tags_are_ascii(text):
    return _ascii(text)


@mutant(Retries.retry_topic, "A message that comes back in unit mode makes an ordinary retry topic.")
def units_of_messages_are_ignored(original, self, group, known, *, unit, now):
    return original(self, group, known, unit=False, now=now)


@mutant(Retries.retry_topic, "A message that comes back makes the retry topic of a unit.")
def every_retry_is_of_a_unit(original, self, group, known, *, unit, now):
    return original(self, group, known, unit=True, now=now)


@mutant(Clients.consume, "A group in unit mode has an ordinary retry topic.")
def units_are_ignored(original, self, data, client, connection, now, *, without_sub):
    data = msgspec.structs.replace(data, unit_mode=False)
    original(self, data, client, connection, now, without_sub=without_sub)
