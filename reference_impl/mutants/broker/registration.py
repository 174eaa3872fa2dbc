"""Mutants of the chapter registration."""

from collections.abc import Callable, Collection, Iterable, Sequence
from zlib import crc32

import msgspec

from harness.wire import Command
from harness.wire.bodies import DataVersion, QueueData, RegisterBody, TopicConfig, TopicRoute
from reference_impl.broker.announcing import Announcing
from reference_impl.broker.mirror import Mirror
from reference_impl.broker.part import NEVER
from reference_impl.broker.parts import Parts
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.topics import Topics
from reference_impl.mutants.broker import V5, mutant

V49 = ("4.9",)


# --- when ---------------------------------------------------------------------------------------------------


@mutant("registration-at-start-is-oneway", "Nobody waits for the answer to a registration.")
def registration_at_start_is_oneway(parts: Parts) -> Parts:
    def register(self: Registrar, now: int, *, force: bool, check_order: bool, oneway: bool = False) -> None:
        parts.registrar.register(self, now, force=force, check_order=check_order, oneway=True)

    return parts.override("registrar", register)


@mutant("registers-again-late", "The second registration comes after the period, not after ten seconds.")
def registers_again_late(parts: Parts) -> Parts:
    def tick(self: Registrar, now: int) -> None:
        if self._next_at == self.broker.started + 10_000 and now >= self._next_at:
            self._next_at += 10_000
        parts.registrar.tick(self, now)

    return parts.override("registrar", tick)


def _period(parts: Parts, period: Callable[[int], int]) -> Parts:
    def replaced(self: Registrar) -> int:
        return period(self.config.register_name_server_period)

    replaced.__name__ = "period"
    return parts.override("registrar", replaced)


@mutant("registration-period-is-fixed", "registerNameServerPeriod changes nothing.")
def registration_period_is_fixed(parts: Parts) -> Parts:
    return _period(parts, lambda _: 30_000)


@mutant("registers-every-sixty-seconds", "Without a setting, a registration comes every sixty seconds.")
def registers_every_sixty_seconds(parts: Parts) -> Parts:
    return _period(parts, lambda told: 60_000 if told == 30_000 else max(10_000, min(told, 60_000)))


@mutant("registers-as-often-as-told", "A period of less than ten seconds is taken as it is.")
def registers_as_often_as_told(parts: Parts) -> Parts:
    return _period(parts, lambda told: min(told, 60_000))


@mutant("registers-as-rarely-as-told", "A period of more than sixty seconds is taken as it is.")
def registers_as_rarely_as_told(parts: Parts) -> Parts:
    return _period(parts, lambda told: max(10_000, told))


# --- what ---------------------------------------------------------------------------------------------------


def _ext(parts: Parts, change: Callable[[dict[str, str | None]], object]) -> Parts:
    def registration_ext(self: Announcing) -> dict[str, str | None]:
        ext = parts.announcing.registration_ext(self)
        change(ext)
        return ext

    return parts.override("announcing", registration_ext)


def _registration(parts: Parts, change: Callable[[Command], Command]) -> Parts:
    def registration(self: Announcing, topics: Iterable[TopicConfig], version: DataVersion) -> Command:
        return change(parts.announcing.registration(self, topics, version))

    return parts.override("announcing", registration)


@mutant("registration-without-replication-address", "A registration has no haServerAddr.")
def registration_without_replication_address(parts: Parts) -> Parts:
    return _ext(parts, lambda ext: ext.pop("haServerAddr"))


@mutant("compression-is-not-said-when-there-is-none", "The field compressed is sent only if it is true.")
def compression_is_not_said_when_there_is_none(parts: Parts) -> Parts:
    def change(command: Command) -> Command:
        ext = dict(command.ext or {})
        if ext.get("compressed") == "false":
            del ext["compressed"]
        return msgspec.structs.replace(command, ext=ext)

    return _registration(parts, change)


@mutant("registration-checksum-has-all-bits", "bodyCrc32 keeps the highest bit.")
def registration_checksum_has_all_bits(parts: Parts) -> Parts:
    def checksum(self: Announcing, body: bytes) -> int:
        return crc32(body) | 0x80000000

    return parts.override("announcing", checksum)


@mutant("registration-49-says-acting-master", "A Broker of 4.9 sends enableActingMaster.", V49)
def registration_49_says_acting_master(parts: Parts) -> Parts:
    return _ext(parts, lambda ext: ext.update(enableActingMaster="false"))


@mutant("registration-does-not-say-acting-master", "enableActingMaster is not sent.", V5)
def registration_does_not_say_acting_master(parts: Parts) -> Parts:
    return _ext(parts, lambda ext: ext.pop("enableActingMaster"))


def _version(parts: Parts, state: int | None) -> Parts:
    def version(self: Announcing) -> DataVersion:
        found = parts.announcing.version(self)
        return DataVersion(found.counter, found.timestamp, state)

    return parts.override("announcing", version)


@mutant("data-version-49-has-a-state", "The data version of a Broker of 4.9 has a stateVersion.", V49)
def data_version_49_has_a_state(parts: Parts) -> Parts:
    return _version(parts, 0)


@mutant("data-version-53-has-no-state", "The data version of a Broker of 5.x has no stateVersion.", V5)
def data_version_53_has_no_state(parts: Parts) -> Parts:
    return _version(parts, None)


def _system(parts: Parts, change: Callable[[Topics, TopicConfig], TopicConfig | None]) -> Parts:
    def system_topics(self: Topics) -> list[TopicConfig]:
        changed = [change(self, topic) for topic in parts.topics.system_topics(self)]
        return [topic for topic in changed if topic is not None]

    return parts.override("topics", system_topics)


@mutant("system-topics-not-announced", "SCHEDULE_TOPIC_XXXX is not announced.")
def system_topics_not_announced(parts: Parts) -> Parts:
    return _system(parts, lambda _, topic: None if topic.topic_name == "SCHEDULE_TOPIC_XXXX" else topic)


@mutant("default-topic-has-perm-6", "TBW102 may not be inherited.")
def default_topic_has_perm_6(parts: Parts) -> Parts:
    def change(self: Topics, topic: TopicConfig) -> TopicConfig:
        return msgspec.structs.replace(topic, perm=6) if topic.topic_name == "TBW102" else topic

    return _system(parts, change)


@mutant("broker-is-no-topic", "There is no topic with the name of the Broker.")
def broker_is_no_topic(parts: Parts) -> Parts:
    return _system(parts, lambda self, one: None if one.topic_name == self.config.broker_name else one)


@mutant("half-topics-not-announced", "The topics of transactions are not announced.", V5)
def half_topics_not_announced(parts: Parts) -> Parts:
    return _system(parts, lambda _, one: None if "_HALF_TOPIC" in (one.topic_name or "") else one)


@mutant("topic-of-members-is-readable", "The topic of the members of the name has permission 6.", V5)
def topic_of_members_is_readable(parts: Parts) -> Parts:
    def change(self: Topics, topic: TopicConfig) -> TopicConfig:
        is_it = "SYNC_BROKER_MEMBER" in (topic.topic_name or "")
        return msgspec.structs.replace(topic, perm=6) if is_it else topic

    return _system(parts, change)


@mutant("default-topic-is-always-announced", "TBW102 is there whether topics are made or not.")
def default_topic_is_always_announced(parts: Parts) -> Parts:
    def system_topics(self: Topics) -> list[TopicConfig]:
        topics = parts.topics.system_topics(self)
        if not any(one.topic_name == "TBW102" for one in topics):
            topics.append(self.made("TBW102", 8, 7))
        return topics

    return parts.override("topics", system_topics)


@mutant("registration-without-filter-servers", "A registration says nothing of filter servers.")
def registration_without_filter_servers(parts: Parts) -> Parts:
    def change(command: Command) -> Command:
        if b'"filterServerList":[],' not in command.body:
            return command
        body = command.body.replace(b'"filterServerList":[],', b'"filterServerList":null,')
        ext = {**(command.ext or {}), "bodyCrc32": str(crc32(body) & 0x7FFFFFFF)}
        return msgspec.structs.replace(command, body=body, ext=ext)

    return _registration(parts, change)


# --- in parts, and by single topics -------------------------------------------------------------------------


@mutant("split-registrations-are-whole", "enableSplitRegistration splits nothing.", V5)
def split_registrations_are_whole(parts: Parts) -> Parts:
    def _register_in_parts(self: Registrar, now: int, *, check_order: bool, oneway: bool) -> None:
        self._register(self._shown(), check_order=check_order, oneway=oneway)

    return parts.override("registrar", _register_in_parts)


def _in_parts(parts: Parts, change: Callable[[Registrar, list[TopicConfig], int], None]) -> Parts:
    """What is done with each part but for its being sent is changed; none for an empty list."""

    def _register_in_parts(self: Registrar, now: int, *, check_order: bool, oneway: bool) -> None:
        topics, size = self._shown(), self.config.split_registration_size
        for start in range(0, len(topics) + 1, size):
            chunk = topics[start : start + size]
            change(self, chunk, now)
            if chunk:
                self._register(chunk, check_order=check_order, oneway=oneway)

    return parts.override("registrar", _register_in_parts)


@mutant("last-chunk-is-left-out", "What is left behind the last whole part is not registered.", V5)
def last_chunk_is_left_out(parts: Parts) -> Parts:
    def change(self: Registrar, chunk: list[TopicConfig], now: int) -> None:
        self.broker.topics.changed(now)
        if len(chunk) < self.config.split_registration_size:
            chunk.clear()

    return _in_parts(parts, change)


@mutant("chunks-share-their-data-version", "All parts of a registration have one data version.", V5)
def chunks_share_their_data_version(parts: Parts) -> Parts:
    return _in_parts(parts, lambda _self, _chunk, _now: None)


@mutant("split-registrations-ask-first", "A registration in parts asks first if anything has changed.", V5)
def split_registrations_ask_first(parts: Parts) -> Parts:
    def register(self: Registrar, now: int, *, force: bool, check_order: bool, oneway: bool = False) -> None:
        if not force:
            self._probe(check_order=check_order, oneway=oneway)
        parts.registrar.register(self, now, force=force, check_order=check_order, oneway=oneway)

    return parts.override("registrar", register)


def _announced(parts: Parts, *, sends_too: bool) -> Parts:
    """Topics that an administrator changes are announced with the Broker, those of sends too or not."""

    def announce(self: Registrar, topics: Sequence[TopicConfig], now: int) -> None:
        shown = [self.broker.announcing.shown(topic, keeps_flag=True) for topic in topics]
        self._register(shown, check_order=True)

    def topic_created(self: Registrar, topic: TopicConfig, now: int) -> None:
        parts.registrar.announce(self, [topic], now)

    changed = parts.override("registrar", announce)
    return changed if sends_too else changed.override("registrar", topic_created)


@mutant("single-topics-are-registered-with-the-broker", "enableSingleTopicRegister changes nothing.", V5)
def single_topics_are_registered_with_the_broker(parts: Parts) -> Parts:
    return _announced(parts, sends_too=True)


@mutant(
    "administered-topics-are-registered-with-the-broker", "Only topics of sends are registered singly.", V5
)
def administered_topics_are_registered_with_the_broker(parts: Parts) -> Parts:
    return _announced(parts, sends_too=False)


@mutant("single-topics-are-all", "A topic that was registered by itself is in no other registration.", V5)
def single_topics_are_all(parts: Parts) -> Parts:
    said: set[str | None] = set()

    def single_topic(self: Announcing, topic: TopicConfig) -> Command:
        said.add(topic.topic_name)
        return parts.announcing.single_topic(self, topic)

    def registration(self: Announcing, topics: Iterable[TopicConfig], version: DataVersion) -> Command:
        left = [topic for topic in topics if topic.topic_name not in said]
        return parts.announcing.registration(self, left, version)

    return parts.override("announcing", single_topic).override("announcing", registration)


def _single(parts: Parts, change: Callable[[QueueData], QueueData | None]) -> Parts:
    """The queues of a topic that is registered by itself are changed, or left out."""

    def single_topic(self: Announcing, topic: TopicConfig) -> Command:
        command = parts.announcing.single_topic(self, topic)
        (queue,) = TopicRoute.decode(command.body).queue_datas
        changed = change(queue)
        route = TopicRoute(queue_datas=[] if changed is None else [changed])
        return msgspec.structs.replace(command, body=route.encode("legacy"))

    return parts.override("announcing", single_topic)


@mutant("single-topic-has-no-queues", "A topic that is registered by itself has no queues.", V5)
def single_topic_has_no_queues(parts: Parts) -> Parts:
    return _single(parts, lambda _: None)


@mutant("single-topic-has-its-own-permission", "A topic that is registered by itself may all.", V5)
def single_topic_has_its_own_permission(parts: Parts) -> Parts:
    return _single(parts, lambda queue: msgspec.structs.replace(queue, perm=6))


# --- new topics ---------------------------------------------------------------------------------------------


@mutant("new-topic-49-is-announced-alone", "4.9 announces a new topic without the others.", V49)
def new_topic_49_is_announced_alone(parts: Parts) -> Parts:
    def topic_created(self: Registrar, topic: TopicConfig, now: int) -> None:
        self.announce([topic], now)

    return parts.override("registrar", topic_created)


@mutant("new-topic-53-is-announced-with-all", "5.x announces a new topic with all others.", V5)
def new_topic_53_is_announced_with_all(parts: Parts) -> Parts:
    def topic_created(self: Registrar, topic: TopicConfig, now: int) -> None:
        self.register(now, force=True, check_order=False)

    return parts.override("registrar", topic_created)


@mutant("new-topic-keeps-the-data-version", "Only the table changes, its data version does not.")
def new_topic_keeps_the_data_version(parts: Parts) -> Parts:
    def version(self: Announcing) -> DataVersion:
        found = parts.announcing.version(self)
        return msgspec.structs.replace(found, counter=0)

    return parts.override("announcing", version)


@mutant("table-without-new-topics", "Registrations that time brings carry system topics only.")
def table_without_new_topics(parts: Parts) -> Parts:
    def _shown(self: Registrar) -> list[TopicConfig]:
        known = {one.topic_name for one in self.broker.topics.system_topics()}
        return [one for one in parts.registrar._shown(self) if one.topic_name in known]

    return parts.override("registrar", _shown)


# --- forms --------------------------------------------------------------------------------------------------


@mutant("compression-is-not-said", "A compressed body is said not to be.")
def compression_is_not_said(parts: Parts) -> Parts:
    def change(command: Command) -> Command:
        return msgspec.structs.replace(command, ext={**(command.ext or {}), "compressed": "false"})

    return _registration(parts, change)


@mutant("checksum-of-what-was-compressed", "bodyCrc32 is that of the body before it was compressed.")
def checksum_of_what_was_compressed(parts: Parts) -> Parts:
    def body(self: Announcing, topics: Iterable[TopicConfig], version: DataVersion) -> bytes:
        listed = list(topics)
        made = parts.announcing.body(self, listed, version)
        announced = RegisterBody(topics={one.topic_name or "": one for one in listed}, data_version=version)
        self.broker.__dict__["uncompressed"] = (made, announced.layout(self.profile.v5))
        return made

    def checksum(self: Announcing, body: bytes) -> int:
        made, plain = self.broker.__dict__["uncompressed"]
        return parts.announcing.checksum(self, plain if self.compresses() and made == body else body)

    return parts.override("announcing", body).override("announcing", checksum)


def _restricted(parts: Parts, restrict: Callable[[int, int], int]) -> Parts:
    def restricted(self: Announcing, perm: int) -> int:
        return restrict(perm, self.config.broker_permission)

    return parts.override("announcing", restricted)


@mutant("restricted-broker-announces-full-permissions", "brokerPermission is not announced.")
def restricted_broker_announces_full_permissions(parts: Parts) -> Parts:
    return _restricted(parts, lambda perm, _: perm)


@mutant("restricted-broker-49-has-what-both-allow", "4.9 announces what topic and Broker allow.", V49)
def restricted_broker_49_has_what_both_allow(parts: Parts) -> Parts:
    return _restricted(parts, lambda perm, own: perm & own & 4)


@mutant("restricted-broker-53-has-its-own-permission", "5.x announces its own permission everywhere.", V5)
def restricted_broker_53_has_its_own_permission(parts: Parts) -> Parts:
    return _restricted(parts, lambda _, own: own)


# --- answers ------------------------------------------------------------------------------------------------


def _gives_up(parts: Parts, when: Callable[[Command | None], bool]) -> Parts:
    def _registered(self: Registrar, round_: object, reply: Command | None, now: int) -> None:
        if when(reply):
            self._next_at = 1 << 62
        parts.registrar._registered(self, round_, reply, now)  # type: ignore[arg-type]

    return parts.override("registrar", _registered)


@mutant("gives-up-after-refusal", "A Broker whose registration was refused does not register again.")
def gives_up_after_refusal(parts: Parts) -> Parts:
    return _gives_up(parts, lambda reply: reply is not None and reply.code != 0)


@mutant("gives-up-after-silence", "A Broker whose registration was not answered does not register again.")
def gives_up_after_silence(parts: Parts) -> Parts:
    return _gives_up(parts, lambda reply: reply is None)


@mutant("registers-with-the-first-only", "Only the first NameServer is told.")
def registers_with_the_first_only(parts: Parts) -> Parts:
    def _send_all(
        self: Registrar, command: Command, within: int, done: Callable[[Command | None, int], None] | None
    ) -> None:
        kept = self._nameservers
        self._nameservers = dict(list(kept.items())[:1])
        parts.registrar._send_all(self, command, within, done)
        self._nameservers = kept

    return parts.override("registrar", _send_all)


@mutant("nameservers-wait-for-each-other", "Nobody is told as long as one NameServer has not answered.")
def nameservers_wait_for_each_other(parts: Parts) -> Parts:
    def may_register(self: Registrar) -> bool:
        waits = any(one._is_asked for one in self._nameservers.values())
        return parts.registrar.may_register(self) and not waits

    def within(self: Registrar) -> int:
        return 1_000_000

    return parts.override("registrar", may_register).override("registrar", within)


def _after_absence(parts: Parts, everyone: bool) -> Parts:
    def _registered(self: Registrar, round_: object, reply: Command | None, now: int) -> None:
        if reply is None:
            names = list(self._nameservers)
            self._nameservers = {} if everyone else {name: self._nameservers[name] for name in names[1:]}
            self._list_at = 1 << 62
        parts.registrar._registered(self, round_, reply, now)  # type: ignore[arg-type]

    return parts.override("registrar", _registered)


@mutant("absent-nameserver-holds-up-others", "Once a NameServer cannot be reached, nobody is told any more.")
def absent_nameserver_holds_up_others(parts: Parts) -> Parts:
    return _after_absence(parts, everyone=True)


@mutant("absent-nameserver-is-forgotten", "A NameServer that could not be reached once is not told again.")
def absent_nameserver_is_forgotten(parts: Parts) -> Parts:
    return _after_absence(parts, everyone=False)


@mutant("order-is-not-taken-over", "The table of order topics is ignored.")
def order_is_not_taken_over(parts: Parts) -> Parts:
    def take_order(self: Registrar, body: bytes, now: int) -> None:
        return

    return parts.override("registrar", take_order)


@mutant("order-keeps-the-data-version", "An order that is taken over does not raise the data version.")
def order_keeps_the_data_version(parts: Parts) -> Parts:
    def set_order(self: Topics, ordered: Collection[str], now: int) -> None:
        before = msgspec.structs.replace(self.version)
        parts.topics.set_order(self, ordered, now)
        self.version = before

    return parts.override("topics", set_order)


@mutant("no-table-is-an-empty-table", "An answer without a body takes all order back.")
def no_table_is_an_empty_table(parts: Parts) -> Parts:
    def _registered(self: Registrar, round_: object, reply: Command | None, now: int) -> None:
        parts.registrar._registered(self, round_, reply, now)  # type: ignore[arg-type]
        if reply is not None and not reply.body:
            for name, topic in list(self.broker.topics.table.items()):
                self.broker.topics.table[name] = msgspec.structs.replace(topic, order=False)

    return parts.override("registrar", _registered)


def _ordered_now(parts: Parts, decide: Callable[[bool, bool], bool]) -> Parts:
    def ordered_now(self: Topics, topic: TopicConfig, is_listed: bool) -> bool:
        return decide(topic.order, is_listed)

    return parts.override("topics", ordered_now)


@mutant("order-49-stays", "4.9 does not take order back.", V49)
def order_49_stays(parts: Parts) -> Parts:
    return _ordered_now(parts, lambda before, listed: before or listed)


@mutant("order-53-is-taken-back", "5.x takes order back.", V5)
def order_53_is_taken_back(parts: Parts) -> Parts:
    return _ordered_now(parts, lambda _, listed: listed)


# --- slaves -------------------------------------------------------------------------------------------------


@mutant("slave-registers-as-master", "A slave registers with the id 0.")
def slave_registers_as_master(parts: Parts) -> Parts:
    return _ext(parts, lambda ext: ext.update(brokerId="0"))


@mutant("told-master-is-ignored", "A slave does not take over the master that it is told.")
def told_master_is_ignored(parts: Parts) -> Parts:
    def told(self: Mirror, master: str | None, ha_master: str | None) -> None:
        return

    return parts.override("mirror", told)


@mutant("master-asks-a-told-master", "A master asks the master that it is told for topics.")
def master_asks_a_told_master(parts: Parts) -> Parts:
    def next_tick(self: Mirror) -> int:
        if self._next_at == NEVER:
            self._next_at = self.broker.started + self.first()
        return self._next_at

    return parts.override("mirror", next_tick)
