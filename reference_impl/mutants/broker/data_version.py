"""Mutants of the chapter data-version."""

from collections.abc import Callable, Mapping

import msgspec

from harness.wire import Command, ResponseCode
from harness.wire.bodies import DataVersion
from reference_impl.broker.announcing import Announcing
from reference_impl.broker.parts import Parts
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.topics import Topics
from reference_impl.mutants.broker import mutant

SUCCESS = ResponseCode.SUCCESS


def _forces(parts: Parts, answer: bool) -> Parts:
    def forces(self: Registrar) -> bool:
        return answer

    return parts.override("registrar", forces)


@mutant("asks-although-forced", "A Broker always asks before it registers again.")
def asks_although_forced(parts: Parts) -> Parts:
    return _forces(parts, False)


@mutant("registers-without-asking", "forceRegister=false changes nothing.")
def registers_without_asking(parts: Parts) -> Parts:
    return _forces(parts, True)


@mutant("question-without-id", "The question for changes has no brokerId.")
def question_without_id(parts: Parts) -> Parts:
    def probe(self: Announcing, version: DataVersion) -> Command:
        asked = parts.announcing.probe(self, version)
        ext = {name: text for name, text in (asked.ext or {}).items() if name != "brokerId"}
        return msgspec.structs.replace(asked, ext=ext)

    return parts.override("announcing", probe)


@mutant("question-has-another-version", "The question for changes carries the next data version.")
def question_has_another_version(parts: Parts) -> Parts:
    def probe(self: Announcing, version: DataVersion) -> Command:
        return parts.announcing.probe(self, msgspec.structs.replace(version, counter=version.counter + 1))

    return parts.override("announcing", probe)


@mutant(
    "asks-at-the-start",
    "A Broker without force asks also before it registers for the first time.",
    profiles=["4.9"],
)
def asks_at_the_start(parts: Parts) -> Parts:
    def register(self: Registrar, now: int, *, force: bool, check_order: bool, oneway: bool = False) -> None:
        forced = force and self.config.force_register
        parts.registrar.register(self, now, force=forced, check_order=check_order, oneway=oneway)

    return parts.override("registrar", register)


def _calls(parts: Parts, judge: Callable[[Command | None, bool], bool]) -> Parts:
    def calls_for_registration(self: Registrar, reply: Command | None, version: DataVersion) -> bool:
        return judge(reply, parts.registrar.calls_for_registration(self, reply, version))

    return parts.override("registrar", calls_for_registration)


@mutant("unchanged-is-registered-too", "A Broker registers whatever a NameServer answers.")
def unchanged_is_registered_too(parts: Parts) -> Parts:
    return _calls(parts, lambda _, __: True)


@mutant("changed-is-not-registered", "A Broker that is told of changes does not register.")
def changed_is_not_registered(parts: Parts) -> Parts:
    return _calls(parts, lambda reply, calls: calls and (reply is None or _changed(reply) != "true"))


@mutant("answered-version-is-not-compared", "Only the field changed counts, not the version in the answer.")
def answered_version_is_not_compared(parts: Parts) -> Parts:
    return _calls(parts, lambda reply, calls: calls and (reply is None or _changed(reply) != "false"))


@mutant("unsaid-is-unchanged", "An answer without the field changed counts as unchanged.")
def unsaid_is_unchanged(parts: Parts) -> Parts:
    return _calls(parts, lambda reply, calls: calls and (reply is None or _changed(reply) is not None))


@mutant("refusal-is-registered", "An error counts as changed.")
def refusal_is_registered(parts: Parts) -> Parts:
    return _calls(
        parts, lambda reply, calls: calls or (reply is not None and reply.code != ResponseCode.SUCCESS)
    )


@mutant("unreachable-is-unchanged", "A question that is not answered counts as unchanged.", profiles=["4.9"])
def unreachable_is_unchanged(parts: Parts) -> Parts:
    return _calls(parts, lambda reply, calls: calls and reply is not None)


@mutant("topics-are-forgotten", "The table of topics is not written to disk.")
def topics_are_forgotten(parts: Parts) -> Parts:
    def settle(self: Topics, now: int) -> None:
        return

    return parts.override("topics", settle)


def _changed(reply: Command) -> str | None:
    ext: Mapping[str, str | None] = reply.ext or {}
    return ext.get("changed")
