"""Mutants of the chapter light-heartbeat."""

import msgspec

from harness.wire import Command, RequestCode
from harness.wire.bodies import DataVersion
from reference_impl.broker.announcing import Announcing
from reference_impl.broker.parts import Parts
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.standing import Standing
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import Reply


@mutant("light-heartbeat-is-always-sent", "BROKER_HEARTBEAT is sent whatever the settings say.")
def light_heartbeat_is_always_sent(parts: Parts) -> Parts:
    def register(self: Registrar, now: int, *, force: bool, check_order: bool, oneway: bool = False) -> None:
        parts.registrar.register(self, now, force=force, check_order=check_order, oneway=oneway)
        for address in self.addresses():
            self.broker.tell(address, Command(code=RequestCode.BROKER_HEARTBEAT, ext={"brokerName": "x"}))

    return parts.override("registrar", register)


@mutant("light-heartbeat-is-never-sent", "No light heartbeat is sent.", V5)
def light_heartbeat_is_never_sent(parts: Parts) -> Parts:
    def _send_heartbeat(self: Standing) -> None:
        return

    return parts.override("standing", _send_heartbeat)


@mutant("light-heartbeat-awaits-an-answer", "A light heartbeat is not one-way.", V5)
def light_heartbeat_awaits_an_answer(parts: Parts) -> Parts:
    def _send_heartbeat(self: Standing) -> None:
        heartbeat = self.broker.announcing.light_heartbeat(self.broker.announcing.version())
        for address in self.broker.registrar.addresses():
            self.broker.ask(address, heartbeat, 500, lambda _, __: None)

    return parts.override("standing", _send_heartbeat)


@mutant("registration-does-not-say-how-long-it-lasts", "heartbeatTimeoutMillis is not sent.", V5)
def registration_does_not_say_how_long_it_lasts(parts: Parts) -> Parts:
    def registration_ext(self: Announcing) -> dict[str, str | None]:
        ext = parts.announcing.registration_ext(self)
        ext.pop("heartbeatTimeoutMillis", None)
        return ext

    return parts.override("announcing", registration_ext)


@mutant("members-are-not-asked-for", "Nobody asks for the members of the name.", V5)
def members_are_not_asked_for(parts: Parts) -> Parts:
    def _ask_for_members(self: Standing, then: object) -> None:
        return

    return parts.override("standing", _ask_for_members)


@mutant("light-heartbeat-is-always-a-question", "compatibleWithOldNameSrv=false changes no heartbeat.", V5)
def light_heartbeat_is_always_a_question(parts: Parts) -> Parts:
    def light_heartbeat(self: Announcing, version: DataVersion) -> Command:
        return self.probe(version)

    return parts.override("announcing", light_heartbeat)


@mutant("light-heartbeat-has-an-id", "BROKER_HEARTBEAT has a brokerId.", V5)
def light_heartbeat_has_an_id(parts: Parts) -> Parts:
    def light_heartbeat(self: Announcing, version: DataVersion) -> Command:
        made = parts.announcing.light_heartbeat(self, version)
        return msgspec.structs.replace(made, ext=self.identity())

    return parts.override("announcing", light_heartbeat)


@mutant("members-are-always-asked-for-as-a-topic", "compatibleWithOldNameSrv=false changes no question.", V5)
def members_are_always_asked_for_as_a_topic(parts: Parts) -> Parts:
    def members(self: Announcing) -> Command:
        topic = f"rmq_sys_SYNC_BROKER_MEMBER_{self.config.broker_name}"
        return Command(code=RequestCode.GET_ROUTEINFO_BY_TOPIC, ext={"topic": topic})

    return parts.override("announcing", members)


@mutant("registers-although-it-is-to-wait", "disappearTimeAfterStart changes nothing.", V5)
def registers_although_it_is_to_wait(parts: Parts) -> Parts:
    def is_shy(self: Registrar, now: int) -> bool:
        return False

    return parts.override("registrar", is_shy)


@mutant("waits-half-as-long-to-register", "Half of disappearTimeAfterStart is waited for.", V5)
def waits_half_as_long_to_register(parts: Parts) -> Parts:
    def is_shy(self: Registrar, now: int) -> bool:
        return now < self.broker.started + self.config.disappear_time_after_start // 2

    return parts.override("registrar", is_shy)


@mutant("isolated-broker-registers", "A Broker with replicas waits for nobody.", V5)
def isolated_broker_registers(parts: Parts) -> Parts:
    def starts_isolated(self: Standing) -> bool:
        return False

    return parts.override("standing", starts_isolated)


@mutant("isolated-broker-stays-isolated", "A Broker with replicas never comes online.", V5)
def isolated_broker_stays_isolated(parts: Parts) -> Parts:
    def _come_online(self: Standing, now: int) -> None:
        return

    return parts.override("standing", _come_online)


@mutant("smallest-id-is-not-acknowledged", "905 is not answered.", V5)
def smallest_id_is_not_acknowledged(parts: Parts) -> Parts:
    def smallest_changed(self: Standing, command: Command, connection: int, now: int) -> Reply | None:
        parts.standing.smallest_changed(self, command, connection, now)
        return None

    return parts.override("standing", smallest_changed)
