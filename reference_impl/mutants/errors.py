"""Faults of what is answered to unknown codes, to requests that fail, and to fields that cannot be read."""

from collections.abc import Callable

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, Serialization, WireError
from harness.wire.bodies import DataVersion, RegisterBody
from reference_impl.mutants import mutant
from reference_impl.mutants._headers import refusing
from reference_impl.nameserver.core import Handler, NameServer
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.state import Registration
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

_SUCCESS, _SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR
_NOT_SUPPORTED = ResponseCode.REQUEST_CODE_NOT_SUPPORTED


def _with_field(command: Command, name: str, value: str) -> Command:
    return msgspec.structs.replace(command, ext={**(command.ext or {}), name: value})


# --- unknown codes --------------------------------------------------------------------------------------


def _unknown(parts: Parts, answer: Callable[[Command], Reply | None]) -> Parts:
    def unknown_request(self: NameServer, command: Command) -> Reply | None:
        return answer(command)

    return parts.override("nameserver", unknown_request)


@mutant("unknown-code-silent", "A request with an unknown code is not answered.")
def unknown_code_silent(parts: Parts) -> Parts:
    return _unknown(parts, lambda _: None)


@mutant("unknown-code-without-remark", "The refusal of an unknown code has no remark.", ["5.3", "5.5"])
def unknown_code_without_remark(parts: Parts) -> Parts:
    return _unknown(parts, lambda _: Reply(_NOT_SUPPORTED))


@mutant("unknown-code-succeeds", "A request with an unknown code is answered with code 0.")
def unknown_code_succeeds(parts: Parts) -> Parts:
    return _unknown(parts, lambda _: Reply(_SUCCESS))


@mutant("unknown-code-closes", "A request with an unknown code closes the connection.")
def unknown_code_closes(parts: Parts) -> Parts:
    def closed(command: Command) -> Reply | None:
        raise WireError(f"code {command.code}")

    return _unknown(parts, closed)


@mutant("unknown-oneway-answered", "A one-way request with an unknown code is answered.")
def unknown_oneway_answered(parts: Parts) -> Parts:
    def answer(self: Endpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        command = self.read(frame)
        if not command.is_oneway or command.code in self.nameserver.handlers:
            return parts.endpoint.answer(self, connection, frame, now)
        return self.write(self.response(command, Reply(_NOT_SUPPORTED)))

    return parts.override("endpoint", answer)


@mutant("negative-code-closes", "A negative request code closes the connection.")
def negative_code_closes(parts: Parts) -> Parts:
    return refusing(parts, lambda members: int(members.get("code", 0)) < 0)


@mutant("code-of-16-bits", "Of a request code only the low 16 bits count.")
def code_of_16_bits(parts: Parts) -> Parts:
    def execute(self: NameServer, command: Command, connection: int, now: int) -> Reply | None:
        short = msgspec.structs.replace(command, code=command.code & 0xFFFF)
        return parts.nameserver.execute(self, short, connection, now)

    return parts.override("nameserver", execute)


@mutant("code-required", "A JSON header without a code closes the connection.")
def code_required(parts: Parts) -> Parts:
    return refusing(parts, lambda members: "code" not in members)


def _known(parts: Parts, code: RequestCode) -> Parts:
    def known_requests(self: NameServer) -> dict[int, Handler]:
        return parts.nameserver.known_requests(self) | {code: lambda *_: Reply(_SUCCESS)}

    return parts.override("nameserver", known_requests)


@mutant("217-served-in-4.9", "4.9 answers the registration of a single topic with code 0.", ["4.9"])
def code_217_served(parts: Parts) -> Parts:
    return _known(parts, RequestCode.REGISTER_TOPIC_IN_NAMESRV)


@mutant("901-served-in-4.9", "4.9 answers the question for a member group with code 0.", ["4.9"])
def code_901_served(parts: Parts) -> Parts:
    return _known(parts, RequestCode.GET_BROKER_MEMBER_GROUP)


@mutant("904-served-in-4.9", "4.9 answers a heartbeat with code 0.", ["4.9"])
def code_904_served(parts: Parts) -> Parts:
    return _known(parts, RequestCode.BROKER_HEARTBEAT)


# --- requests that fail ---------------------------------------------------------------------------------


def _failing(parts: Parts, change: Callable[[NameServer, Reply], Reply | None]) -> Parts:
    def execute(self: NameServer, command: Command, connection: int, now: int) -> Reply | None:
        reply = parts.nameserver.execute(self, command, connection, now)
        return change(self, reply) if reply is not None and reply.code == _SYSTEM_ERROR else reply

    return parts.override("nameserver", execute)


@mutant("failure-succeeds", "A request that fails is answered with code 0.")
def failure_succeeds(parts: Parts) -> Parts:
    return _failing(parts, lambda _, reply: msgspec.structs.replace(reply, code=_SUCCESS))


@mutant("failure-without-remark", "The answer to a request that fails has no remark.")
def failure_without_remark(parts: Parts) -> Parts:
    return _failing(parts, lambda _, reply: msgspec.structs.replace(reply, remark=None))


@mutant("failure-with-body", "The answer to a request that fails has a body.")
def failure_with_body(parts: Parts) -> Parts:
    return _failing(parts, lambda _, reply: msgspec.structs.replace(reply, body=b"failed"))


@mutant("failure-unanswered", "A request that fails is not answered.")
def failure_unanswered(parts: Parts) -> Parts:
    return _failing(parts, lambda *_: None)


@mutant("failure-closes", "A request that fails closes the connection.")
def failure_closes(parts: Parts) -> Parts:
    def closed(nameserver: NameServer, reply: Reply) -> Reply | None:
        raise WireError(reply.remark or "")

    return _failing(parts, closed)


@mutant("third-failure-unanswered", "Only the first two requests that fail are answered.")
def third_failure_unanswered(parts: Parts) -> Parts:
    def counted(nameserver: NameServer, reply: Reply) -> Reply | None:
        failures = nameserver.__dict__["failures"] = nameserver.__dict__.get("failures", 0) + 1
        return reply if failures <= 2 else None

    return _failing(parts, counted)


@mutant("binary-failure-unanswered", "A binary request that fails is not answered.")
def binary_failure_unanswered(parts: Parts) -> Parts:
    def answer(self: Endpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        command = self.read(frame)
        if command.serialization != Serialization.ROCKETMQ:
            return parts.endpoint.answer(self, connection, frame, now)
        reply = self.nameserver.execute(command, connection, now)
        failed = reply is None or reply.code == _SYSTEM_ERROR
        return None if failed or reply is None else self.write(self.response(command, reply))

    return parts.override("endpoint", answer)


@mutant("failing-registration-stored", "A registration without broker id fails, and is stored with the id 0.")
def failing_registration_stored(parts: Parts) -> Parts:
    def register(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if command.ext and fields.int64(command.ext, "brokerId") is None:
            self.routes.register(self.registration(_with_field(command, "brokerId", "0")), connection, now)
        return parts.nameserver.register(self, command, connection, now)

    return parts.override("nameserver", register)


# --- ext fields -----------------------------------------------------------------------------------------


@mutant("missing-field-closes", "A request without an ext field that it needs closes the connection.")
def missing_field_closes(parts: Parts) -> Parts:
    def needed(self: NameServer, value: object, name: str) -> object:
        if value is None:
            raise WireError(f"{name} is missing")
        return value

    return parts.override("nameserver", needed)


@mutant("no-ext-fields-closes", "A request without ext fields closes the connection, if its code has some.")
def no_ext_fields_closes(parts: Parts) -> Parts:
    without = (RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, RequestCode.GET_BROKER_CLUSTER_INFO)

    def execute(self: NameServer, command: Command, connection: int, now: int) -> Reply | None:
        if command.ext is None and command.code in self.handlers and command.code not in without:
            raise WireError("there are no ext fields")
        return parts.nameserver.execute(self, command, connection, now)

    return parts.override("nameserver", execute)


@mutant("empty-ext-fields-refused", "Ext fields that are an empty object are answered with code 1.")
def empty_ext_fields_refused(parts: Parts) -> Parts:
    def execute(self: NameServer, command: Command, connection: int, now: int) -> Reply | None:
        if command.ext == {}:
            return Reply(_SYSTEM_ERROR, remark="ext fields without any")
        return parts.nameserver.execute(self, command, connection, now)

    return parts.override("nameserver", execute)


def _broker_id(parts: Parts, read: Callable[[str], str | None]) -> Parts:
    """A server that reads the text of a broker id in its own way; None refuses it."""

    def registration(self: NameServer, command: Command) -> Registration:
        text = fields.text(command.ext, "brokerId")
        if text is None:
            return parts.nameserver.registration(self, command)
        number = read(text)
        if number is None:
            raise RefusedError(f"brokerId {text}")
        return parts.nameserver.registration(self, _with_field(command, "brokerId", number))

    return parts.override("nameserver", registration)


@mutant("unparsable-number-is-zero", "A broker id that is no number is read as 0.")
def unparsable_number_is_zero(parts: Parts) -> Parts:
    return _broker_id(parts, lambda text: "0" if fields.int64({"": text}, "") is None else text)


@mutant("numbers-parsed-loosely", "Blanks around a broker id and a fraction behind it are ignored.")
def numbers_parsed_loosely(parts: Parts) -> Parts:
    return _broker_id(parts, lambda text: text.strip().partition(".")[0])


@mutant("canonical-numbers-only", "A broker id with a plus sign or with leading zeros is refused.")
def canonical_numbers_only(parts: Parts) -> Parts:
    return _broker_id(parts, lambda text: None if text[:1] in ("+", "0") and text != "0" else text)


@mutant("unparsable-crc-refused", "A checksum that is no number does not match.")
def unparsable_crc_refused(parts: Parts) -> Parts:
    def checksum_holds(self: NameServer, command: Command) -> bool:
        given = fields.text(command.ext, "bodyCrc32") is not None
        if given and fields.int32(command.ext, "bodyCrc32") is None:
            return False
        return parts.nameserver.checksum_holds(self, command)

    return parts.override("nameserver", checksum_holds)


def _compressed(parts: Parts, read: Callable[[str], bool]) -> Parts:
    """A server that reads the boolean `compressed` in its own way."""

    def register_body(self: NameServer, command: Command) -> RegisterBody:
        text = fields.text(command.ext, "compressed")
        if text is None:
            return parts.nameserver.register_body(self, command)
        value = "true" if read(text) else "false"
        return parts.nameserver.register_body(self, _with_field(command, "compressed", value))

    return parts.override("nameserver", register_body)


@mutant("booleans-case-sensitive", "Only the word true in lower case is true.")
def booleans_case_sensitive(parts: Parts) -> Parts:
    return _compressed(parts, lambda text: text == "true")


@mutant("any-text-is-true", "Every text but false is true.")
def any_text_is_true(parts: Parts) -> Parts:
    return _compressed(parts, lambda text: text.lower() != "false")


# --- bodies ---------------------------------------------------------------------------------------------


@mutant("empty-body-refused", "A registration without a body fails.")
def empty_body_refused(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        if not command.body:
            raise RefusedError("there is no body")
        return parts.nameserver.register_body(self, command)

    return parts.override("nameserver", register_body)


@mutant("unparsable-body-succeeds", "A registration body that cannot be parsed counts as none.")
def unparsable_body_succeeds(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        try:
            return parts.nameserver.register_body(self, command)
        except RefusedError:
            return RegisterBody(data_version=DataVersion(state_version=0), filter_servers=None)

    return parts.override("nameserver", register_body)


@mutant("unparsable-body-closes", "A registration body that cannot be parsed closes the connection.")
def unparsable_body_closes(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        try:
            return parts.nameserver.register_body(self, command)
        except RefusedError as refused:
            raise WireError(refused.remark) from refused

    return parts.override("nameserver", register_body)
