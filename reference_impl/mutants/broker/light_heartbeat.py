"""Mutants of the chapter light-heartbeat."""

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.broker.ha_membership import HaMembership
from reference_impl.broker.part import NEVER
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.registration_requests import RegistrationRequests
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply


@mutant(Registrar.register, "BROKER_HEARTBEAT is sent whatever the settings say.")
def light_heartbeat_is_always_sent(original, self, now, *, force, check_order, oneway=False):
    original(self, now, force=force, check_order=check_order, oneway=oneway)
    for address in self.addresses():
        self.broker.tell(address, Command(code=RequestCode.BROKER_HEARTBEAT, ext={"brokerName": "x"}))


@mutant(HaMembership._send_heartbeat, "The Broker sends no light heartbeats.", V5)
def light_heartbeat_is_never_sent(original, self):
    return


@after(HaMembership.tick, "The Broker sends light heartbeats every second, whatever is set.", V5)
def light_heartbeat_comes_every_second(found, self, now):
    self._heartbeat_at = min(self._heartbeat_at, now + 1000)


@after(HaMembership.tick, "The Broker requests its members every second, whatever is set.", V5)
def members_are_asked_for_every_second(found, self, now):
    self._members_at = min(self._members_at, now + 1000)


@mutant(HaMembership._send_heartbeat, "A light heartbeat is not one-way.", V5)
def light_heartbeat_awaits_an_answer(original, self):
    heartbeat = self.broker.registration_requests.light_heartbeat(self.broker.registration_requests.version())
    for address in self.broker.registrar.addresses():
        self.broker.ask(address, heartbeat, 500, lambda _, __: None)


@after(RegistrationRequests.registration_ext, "A registration lacks heartbeatTimeoutMillis.", V5)
def registration_does_not_say_how_long_it_lasts(ext):
    ext.pop("heartbeatTimeoutMillis", None)


@mutant(HaMembership._ask_for_members, "The Broker does not query its member group.", V5)
def members_are_not_asked_for(original, self, then):
    return


@mutant(
    HaMembership._ask_for_members,
    "A Broker that once had no NameServer to ask for its members never asks for them again.",
    V5,
)
def members_are_never_asked_for_again(original, self, then):
    self._is_asking |= not self.broker.registrar.addresses()
    original(self, then)


@mutant(
    RegistrationRequests.light_heartbeat, "compatibleWithOldNameSrv=false does not change the heartbeat.", V5
)
def light_heartbeat_is_always_a_question(original, self, version):
    return self.probe(version)


@after(RegistrationRequests.light_heartbeat, "BROKER_HEARTBEAT has a brokerId.", V5)
def light_heartbeat_has_an_id(made, self):
    return msgspec.structs.replace(made, ext=self.identity())


@mutant(RegistrationRequests.members, "compatibleWithOldNameSrv=false does not change the member query.", V5)
def members_are_always_asked_for_as_a_topic(original, self):
    topic = f"rmq_sys_SYNC_BROKER_MEMBER_{self.config.broker_name}"
    return Command(code=RequestCode.GET_ROUTEINFO_BY_TOPIC, ext={"topic": topic})


@mutant(Registrar.is_shy, "disappearTimeAfterStart has no effect.", V5)
def registers_although_it_is_to_wait(original, self, now):
    return False


@mutant(Registrar.is_shy, "The Broker waits for half of disappearTimeAfterStart.", V5)
def waits_half_as_long_to_register(original, self, now):
    return now < self.broker.started + self.config.disappear_time_after_start // 2


@mutant(Registrar.tick, "The registration at the start waits for disappearTimeAfterStart, too.", V5)
def disappears_from_the_start(original, self, now):
    if self._first_at <= now and self.is_shy(now):
        self._first_at = NEVER
    original(self, now)


@mutant(Registrar.announce, "New topics are made known once disappearTimeAfterStart is over.", V5)
def topics_wait_for_the_registration(original, self, topics, now):
    if not self.is_shy(now):
        original(self, topics, now)


@mutant(HaMembership.starts_isolated, "A Broker with replicas registers without waiting for them.", V5)
def isolated_broker_registers(original, self):
    return False


@mutant(HaMembership.starts_isolated, "A Broker without replicas waits for them, too.", V5)
def brokers_without_replicas_wait(original, self):
    return self.acts and not self.config.skip_pre_online


@mutant(HaMembership.starts_isolated, "Every Broker with replicas waits for these.", V5)
def brokers_that_do_not_act_wait(original, self):
    return self.config.total_replicas > 1 and not self.config.skip_pre_online


@mutant(HaMembership.starts_isolated, "skipPreOnline has no effect.", V5)
def way_online_is_never_skipped(original, self):
    return self.acts and self.config.total_replicas > 1


@mutant(HaMembership._come_online, "A Broker with replicas never comes online.", V5)
def isolated_broker_stays_isolated(original, self, now):
    return


@mutant(HaMembership.smallest_changed, "The Broker does not answer code 905.", V5)
def smallest_id_is_not_acknowledged(original, self, command, connection, now):
    original(self, command, connection, now)
    return


@mutant(HaMembership.smallest_changed, "Code 905 without a number is one that names the master.", V5)
def smallest_id_may_be_missing(original, self, command, connection, now):
    if fields.int64(command.ext, "minBrokerId") is None:
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


# -- the way online ------------------------------------------------------------------------------------------


@mutant(HaMembership._meet, "A slave with replicas comes online without asking its master.", V5)
def isolated_slaves_ask_nobody(original, self, members, now):
    original(self, {} if self.config.is_slave else members, now)


@mutant(HaMembership.is_met, "A slave with replicas comes online even if its master does not answer.", V5)
def isolated_slaves_need_no_answer(original, self, reply):
    return True


@mutant(HaMembership.is_met, "A slave with replicas comes online when its master answers with an error.", V5)
def isolated_slaves_take_errors(original, self, reply):
    return not self.config.is_slave or reply is not None


@mutant(HaMembership._meet, "A slave with replicas asks the smallest of the other slaves like a master.", V5)
def isolated_slaves_ask_slaves(original, self, members, now):
    others = [number for number in sorted(members) if number != self.config.broker_id]
    original(self, {0: members[others[0]]} if others else members, now)


@mutant(HaMembership._ask_for_members, "Members are asked for at the first NameServer only.", V5)
def members_are_asked_of_the_first_nameserver(original, self, then):
    def answered(reply, now):
        found = None if reply is None else self.members_in(reply)
        if found is not None:
            then(found, now)

    for address in self.broker.registrar.addresses()[:1]:
        self.broker.ask(address, self.broker.registration_requests.members(), 3_000, answered)


@mutant(HaMembership.members_in, "Members that cannot be read are taken for none.", V5)
def unreadable_members_are_none(original, self, reply):
    found = original(self, reply)
    return {} if found is None and reply.code == ResponseCode.SUCCESS else found


@mutant(HaMembership.members_in, "A Broker asks on when the answer is an error.", V5)
def errors_say_nothing_of_members(original, self, reply):
    known = ResponseCode.SUCCESS, ResponseCode.TOPIC_NOT_EXIST
    return original(self, reply) if reply.code in known else None


@mutant(HaMembership._meet, "An isolated master does not tell its slaves where to copy from.", V5)
def isolated_masters_tell_nobody(original, self, members, now):
    original(self, members if self.config.is_slave else {}, now)


@after(HaMembership._offer, "A master offers no address for copying its log.", V5)
def isolated_masters_offer_no_address(offer):
    del offer["masterHaAddress"]


@mutant(Registrar.stop, "An isolated Broker does not unregister when it is shut down.", V5)
def isolated_brokers_leave_without_a_word(original, self, now):
    if self.may_register():
        original(self, now)
    self.is_stopping = True


@mutant(HaMembership._send_heartbeat, "Light heartbeats go to the first NameServer only.", V5)
def light_heartbeat_goes_to_one_nameserver(original, self):
    requests = self.broker.registration_requests
    self.broker.tell(
        next(iter(self.broker.registrar.addresses())), requests.light_heartbeat(requests.version())
    )


@mutant(HaMembership.members_in, "An answer about members that has no body counts as none.", V5)
def members_need_a_body(original, self, reply):
    return original(self, reply) if reply.body else None


@mutant(HaMembership.tick, "An isolated Broker sends light heartbeats.", V5)
def isolated_broker_keeps_a_lease(original, self, now):
    if self.is_isolated and self._heartbeat_at <= now:
        self._send_heartbeat()
    original(self, now)
