"""Faults of what is answered to unknown codes, to requests that fail, and to fields that cannot be read."""

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, Serialization, WireError
from harness.wire.bodies import DataVersion, RegisterBody
from reference_impl.mutants.headers import refusing
from reference_impl.mutants.registry import V4, V5, family, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

_SUCCESS, _SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
_NOT_SUPPORTED = ResponseCode.REQUEST_CODE_NOT_SUPPORTED


def _with_field(command: Command, name: str, value: str) -> Command:
    return msgspec.structs.replace(command, ext={**(command.ext or {}), name: value})


# --- unknown codes --------------------------------------------------------------------------------------


@mutant(NameServer.unknown_request, "A request with an unknown code is not answered.")
def unknown_code_silent(original, self, command):
    return None


@mutant(NameServer.unknown_request, "The refusal of an unknown code has no remark.", V5)
def unknown_code_without_remark(original, self, command):
    return Reply(_NOT_SUPPORTED)


@mutant(NameServer.unknown_request, "A request with an unknown code is answered with code 0.")
def unknown_code_succeeds(original, self, command):
    return Reply(_SUCCESS)


@mutant(NameServer.unknown_request, "A request with an unknown code closes the connection.")
def unknown_code_closes(original, self, command):
    raise WireError(f"code {command.code}")


@mutant(Endpoint.answer, "A one-way request with an unknown code is answered.")
def unknown_oneway_answered(original, self, connection, frame, now):
    command = self.read(frame)
    if not command.is_oneway or command.code in self.nameserver.handlers:
        return original(self, connection, frame, now)
    return self.write(self.response(command, Reply(_NOT_SUPPORTED)))


@refusing("A negative request code closes the connection.")
def negative_code_closes(members):
    return int(members.get("code", 0)) < 0


@mutant(NameServer.execute, "A request code is truncated to its low 16 bits.")
def code_of_16_bits(original, self, command, connection, now):
    short = msgspec.structs.replace(command, code=command.code & 0xFFFF)
    return original(self, short, connection, now)


@refusing("A JSON header without a code closes the connection.")
def code_required(members):
    return "code" not in members


@mutant(
    NameServer.known_requests,
    "4.9 answers the registration of a single topic with code 0.",
    V4,
    name="217-served-in-4.9",
)
def _217_served_in_4_9(original, self):
    return original(self) | {RequestCode.REGISTER_TOPIC_IN_NAMESRV: lambda *_: Reply(_SUCCESS)}


@mutant(
    NameServer.known_requests,
    "4.9 answers a member group request with code 0.",
    V4,
    name="901-served-in-4.9",
)
def _901_served_in_4_9(original, self):
    return original(self) | {RequestCode.GET_BROKER_MEMBER_GROUP: lambda *_: Reply(_SUCCESS)}


@mutant(NameServer.known_requests, "4.9 answers a heartbeat with code 0.", V4, name="904-served-in-4.9")
def _904_served_in_4_9(original, self):
    return original(self) | {RequestCode.BROKER_HEARTBEAT: lambda *_: Reply(_SUCCESS)}


# --- requests that fail ---------------------------------------------------------------------------------


@family(NameServer.execute)
def _failing(change, original, self, command, connection, now):
    """Change the reply to a request that fails."""
    reply = original(self, command, connection, now)
    return change(self, reply) if reply is not None and reply.code == _SYSTEM_ERROR else reply


@_failing("A request that fails is answered with code 0.")
def failure_succeeds(self, reply):
    return msgspec.structs.replace(reply, code=_SUCCESS)


@_failing("The answer to a request that fails has no remark.")
def failure_without_remark(self, reply):
    return msgspec.structs.replace(reply, remark=None)


@_failing("The answer to a request that fails has a body.")
def failure_with_body(self, reply):
    return msgspec.structs.replace(reply, body=b"failed")


@_failing("A request that fails is not answered.")
def failure_unanswered(*_):
    return None


@_failing("A request that fails closes the connection.")
def failure_closes(nameserver, reply):
    raise WireError(reply.remark or "")


@_failing("Only the first two requests that fail are answered.")
def third_failure_unanswered(nameserver, reply):
    failures = nameserver.__dict__["failures"] = nameserver.__dict__.get("failures", 0) + 1
    return reply if failures <= 2 else None


@mutant(Endpoint.answer, "A binary request that fails is not answered.")
def binary_failure_unanswered(original, self, connection, frame, now):
    command = self.read(frame)
    if command.serialization != Serialization.ROCKETMQ:
        return original(self, connection, frame, now)
    reply = self.nameserver.execute(command, connection, now)
    failed = reply is None or reply.code == _SYSTEM_ERROR
    return None if failed or reply is None else self.write(self.response(command, reply))


@mutant(NameServer.register, "A registration without broker id fails, and is stored with the id 0.")
def failing_registration_stored(original, self, command, connection, now):
    if command.ext and fields.int64(command.ext, "brokerId") is None:
        self.routes.register(self.registration(_with_field(command, "brokerId", "0"), now), connection, now)
    return original(self, command, connection, now)


# --- ext fields -----------------------------------------------------------------------------------------


@mutant(NameServer.needed, "A request without a required ext field closes the connection.")
def missing_field_closes(original, self, value, name):
    if value is None:
        raise WireError(f"{name} is missing")
    return value


@mutant(NameServer.execute, "A request without ext fields closes the connection if its code has any.")
def no_ext_fields_closes(original, self, command, connection, now):
    without = (RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, RequestCode.GET_BROKER_CLUSTER_INFO)
    if command.ext is None and command.code in self.handlers and command.code not in without:
        raise WireError("there are no ext fields")
    return original(self, command, connection, now)


@mutant(NameServer.execute, "Empty ext fields are answered with code 1.")
def empty_ext_fields_refused(original, self, command, connection, now):
    if command.ext == {}:
        return Reply(_SYSTEM_ERROR, remark="ext fields without any")
    return original(self, command, connection, now)


@family(NameServer.registration)
def _broker_id(read, original, self, command, now):
    """Read the text of a broker id in another way; None refuses it."""
    text = fields.text(command.ext, "brokerId")
    if text is None:
        return original(self, command, now)
    number = read(text)
    if number is None:
        raise RefusedError(f"brokerId {text}")
    return original(self, _with_field(command, "brokerId", number), now)


@_broker_id("A broker id that is not a number is read as 0.")
def unparsable_number_is_zero(text):
    return "0" if fields.int64({"": text}, "") is None else text


@_broker_id("A broker id of more than 64 bits wraps around.")
def broker_ids_wrap(text):
    try:
        return str((int(text) + 2**63) % 2**64 - 2**63) if text.strip("-").isdecimal() else text
    except ValueError:
        return text


@_broker_id("Blanks around a broker id and a fraction after it are ignored.")
def numbers_parsed_loosely(text):
    return text.strip().partition(".")[0]


@_broker_id("A broker id with a plus sign or with leading zeros is refused.")
def canonical_numbers_only(text):
    return None if text[:1] in ("+", "0") and text != "0" else text


@mutant(NameServer.checksum_holds, "A checksum of more than 32 bits is a number.")
def numbers_beyond_their_type_are_numbers(original, self, command):
    given = fields.int64(command.ext, "bodyCrc32")
    if given is not None and not -(2**31) <= given < 2**31:
        return False
    return original(self, command)


@mutant(NameServer.checksum_holds, "A checksum that is not a number does not match.")
def unparsable_crc_refused(original, self, command):
    given = fields.text(command.ext, "bodyCrc32") is not None
    if given and fields.int32(command.ext, "bodyCrc32") is None:
        return False
    return original(self, command)


@family(NameServer.register_body)
def _compressed(read, original, self, command):
    """Read the boolean `compressed` in another way."""
    text = fields.text(command.ext, "compressed")
    if text is None:
        return original(self, command)
    return original(self, _with_field(command, "compressed", "true" if read(text) else "false"))


@_compressed("Only the word true in lower case is true.")
def booleans_case_sensitive(text):
    return text == "true"


@_compressed("Every text but false is true.")
def any_text_is_true(text):
    return text.lower() != "false"


# --- bodies ---------------------------------------------------------------------------------------------


@mutant(NameServer.register_body, "A registration without a body fails.")
def empty_body_refused(original, self, command):
    if not command.body:
        raise RefusedError("there is no body")
    return original(self, command)


@mutant(NameServer.register_body, "A registration body that cannot be parsed counts as none.")
def unparsable_body_succeeds(original, self, command):
    try:
        return original(self, command)
    except RefusedError:
        return RegisterBody(data_version=DataVersion(state_version=0), filter_servers=None)


@mutant(NameServer.register_body, "A registration body that cannot be parsed closes the connection.")
def unparsable_body_closes(original, self, command):
    try:
        return original(self, command)
    except RefusedError as refused:
        raise WireError(refused.remark) from refused


@mutant(NameServer.get_route, "A request for a route without ext fields fails.")
def route_without_ext_fields_fails(original, self, command, connection, now):
    if command.ext is None:
        raise RefusedError("no ext fields")
    return original(self, command, connection, now)
