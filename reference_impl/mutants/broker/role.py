"""Mutants of the chapter role."""

from harness.wire import Command, ResponseCode
from harness.wire.bodies import RequestModes, TopicConfigTable
from harness.wire.messages import TopicName, decode_message
from reference_impl.broker.delays import Delays
from reference_impl.broker.group_administration import GroupAdministration
from reference_impl.broker.groups import Groups
from reference_impl.broker.ha_membership import HaMembership
from reference_impl.broker.limits import Limits
from reference_impl.broker.long_polling import LongPolling
from reference_impl.broker.part import NEVER
from reference_impl.broker.pulls import Pulls
from reference_impl.broker.resets import Resets
from reference_impl.broker.retries import Retries
from reference_impl.broker.sends import Sends
from reference_impl.broker.settings import Settings
from reference_impl.broker.slave_sync import SlaveSync, vip
from reference_impl.broker.topic_administration import TopicAdministration
from reference_impl.broker.topics import Topics
from reference_impl.broker.transactions import Transactions
from reference_impl.mutants.registry import V4, V5, after, family, mutant
from reference_impl.remoting.reply import Reply


@mutant(Settings.take, "Code 25 does not change the role or the id.")
def role_stays(original, self, pairs, now):
    kept = {key: value for key, value in pairs.items() if key not in ("brokerRole", "brokerId")}
    original(self, kept, now)


@mutant(Settings.take, "The Broker unregisters when its role changes.")
def change_of_role_is_a_departure(original, self, pairs, now):
    if "brokerId" in pairs:
        for address in self.broker.registrar.addresses():
            self.broker.tell(address, self.broker.registration_requests.departure())
    original(self, pairs, now)


@mutant(Settings.take, "A change of role increases the topics' data version.")
def change_of_role_raises_the_data_version(original, self, pairs, now):
    original(self, pairs, now)
    if "brokerRole" in pairs:
        self.broker.topics.changed(now)


@mutant(SlaveSync.told, "A slave continues to query its last known master.")
def master_that_is_gone_is_asked(original, self, master):
    original(self, master or self.master)


@mutant(HaMembership.exchange, "A master does not return its replication address.", V5)
def place_to_copy_is_not_said(original, self, command, connection, now):
    return Reply(ResponseCode.SUCCESS, ext={})


@after(HaMembership._offer, "The replication address of a master is at its address for clients.", V5)
def place_to_copy_is_where_clients_are(offer, self):
    port = offer["masterHaAddress"].rpartition(":")[2]
    offer["masterHaAddress"] = f"{self.config.broker_ip1}:{port}"


@mutant(HaMembership.exchange, "A master answers an offer with its own addresses.", V5)
def offers_are_answered_with_an_offer(original, self, command, connection, now):
    answer = original(self, command, connection, now)
    return answer if self.config.is_slave else Reply(ResponseCode.SUCCESS, ext=self._offer())


@mutant(HaMembership.exchange, "A master returns the last replication address that it was offered.", V5)
def master_passes_an_offer_on(original, self, command, connection, now):
    answer = original(self, command, connection, now)
    offered = (command.ext or {}).get("masterHaAddress")
    self.offered = offered or getattr(self, "offered", None)
    told = answer.ext and answer.ext | {"masterHaAddress": self.offered or answer.ext["masterHaAddress"]}
    return Reply(answer.code, ext=told)


@mutant(HaMembership.exchange, "A slave returns a replication address.", V5)
def slave_says_where_to_copy(original, self, command, connection, now):
    return Reply(ResponseCode.SUCCESS, ext=self._offer())


@mutant(
    HaMembership.find_place_to_copy,
    "A slave does not ask a new master for its replication address.",
    V5,
)
def new_master_is_not_asked(original, self, master):
    return


@mutant(HaMembership.find_place_to_copy, "A slave asks one new master once, and never again.", V5)
def new_masters_are_asked_once(original, self, master):
    if not vars(self).get("has_asked"):
        vars(self)["has_asked"] = True
        original(self, master)


@mutant(HaMembership._found_place_to_copy, "A slave follows an address in an error, too.", V5)
def errors_of_new_masters_are_followed(original, self, reply, now):
    if reply is not None:
        reply.code = 0
    original(self, reply, now)


# --- what a slave does, and what is there behind its time ---------------------------------------------------


@mutant(Settings.take, "A Broker that became a slave cannot become a master again.")
def promotion_is_ignored(original, self, pairs, now):
    if not (self.config.is_slave and pairs.get("brokerRole") == "ASYNC_MASTER"):
        original(self, pairs, now)


@mutant(Limits.rejects_sends, "A slave accepts messages from producers.")
def slave_takes_messages(original, self):
    return False


@slave_takes_messages.also(Sends.refuses_as_slave)
def _(original, self):
    return False


@mutant(Limits.rejects_pulls, "A slave of 4.9 answers pulls with SYSTEM_BUSY.", V4)
def slave_is_not_read_from(original, self):
    return self.config.is_slave


@mutant(Limits.rejects_pulls, "A slave of 5.x answers pulls even without slaveReadEnable.", V5)
def slave_is_read_from(original, self):
    return False


@mutant(Pulls.may_commit, "A slave of 4.9 stores the offsets that pulls carry.", V4)
def slave_commits_by_pulls(original, self):
    return True


@mutant(Limits.rejects_sends, "A slave accepts messages that consumers send back.")
def slave_takes_back(original, self):
    return False


@slave_takes_back.also(Retries.refuses_as_slave)
def _(original, self):
    return False


@mutant(Transactions.refuses_as_slave, "A slave ends transactions.")
def slave_ends_transactions(original, self):
    return False


@mutant(TopicAdministration.refuses_as_slave, "A slave of 4.9 creates, changes and deletes topics.", V4)
def slave_changes_topics(original, self):
    return False


@after(TopicAdministration.update, "A slave of 4.9 refuses topics without a word.", V4)
def slave_says_nothing_about_topics(reply):
    if reply.code == ResponseCode.SYSTEM_ERROR:
        reply.remark = None


@mutant(HaMembership.is_special, "A slave delivers delayed messages.")
def slave_delivers_delays(original, self):
    return True


@family(Settings.take)
def _demoted(forget, original, self, pairs, now):
    """Forget something when the Broker becomes a slave."""
    if pairs.get("brokerRole") == "SLAVE":
        forget(self.broker)
    original(self, pairs, now)


@_demoted("Waiting messages are lost when the Broker becomes a slave.")
def demotion_forgets_delays(broker):
    delays = broker.delays
    for level in delays.offsets:
        delays.offsets[level] = broker.store.max_offset(TopicName.SCHEDULE, level - 1)


@_demoted("Half messages are lost when the Broker becomes a slave.")
def demotion_forgets_transactions(broker):
    for offset in list(broker.transactions.open):
        broker.transactions.forget(offset)


@_demoted("Committed offsets are lost when the Broker becomes a slave.")
def demotion_forgets_offsets(broker):
    return broker.offsets.table.clear()


@mutant(LongPolling.release_all, "A new master does not release held pulls.", V5)
def new_masters_release_nothing(original, self, now):
    return


@mutant(HaMembership.heard_of_smallest, "Each change of the smallest id releases held pulls.", V5)
def new_smallest_ids_release_pulls(original, self, number, address, left, ha_address, now):
    before = self.smallest
    original(self, number, address, left, ha_address, now)
    if before is not None and before[0] != number:
        self.broker.long_polling.release_all(now)


@mutant(LongPolling.release_all, "A master that comes back a second time does not release held pulls.", V5)
def new_masters_release_once(original, self, now):
    if not vars(self).get("has_released"):
        vars(self)["has_released"] = True
        original(self, now)


@mutant(HaMembership.heard_of_smallest, "A slave continues to query a master that has left.", V5)
def master_that_has_left_is_asked(original, self, number, address, left, ha_address, now):
    original(self, number, address, None, ha_address, now)


@mutant(HaMembership.is_special, "The slave with the smallest id delivers delayed messages.", V5)
def acting_slaves_deliver(original, self):
    return not self.config.is_slave or (self.smallest is not None and self.smallest[0] != 0)


@mutant(Settings.take, "A new master delivers timed messages again.", V5)
def promotion_delivers_timed_again(original, self, pairs, now):
    if self.config.is_slave and pairs.get("brokerRole") == "ASYNC_MASTER":
        for offset in range(self.broker.store.max_offset(TopicName.TIMER, 0)):
            got = self.broker.store.get(TopicName.TIMER, 0, offset, 1)
            self.broker.timers.expect(decode_message(got.frames[0]))
    original(self, pairs, now)


@mutant(HaMembership.heard_of_smallest, "A slave copies from a master that has left.", V5)
def master_that_has_left_is_copied(original, self, number, address, left, ha_address, now):
    link = self.broker.master_link
    where = link._address
    original(self, number, address, left, ha_address, now)
    link.follow(link._address or where)


@mutant(Pulls.corrects, "A slave sends consumers to other offsets.")
def slave_corrects_offsets(original, self):
    return True


@mutant(Pulls.corrects, "A slave corrects no offset, whatever the settings say.")
def slaves_never_correct_offsets(original, self):
    return not self.config.is_slave


@mutant(Pulls.next_offset, "A slave sends consumers to the offset that they asked for, whatever it finds.")
def slave_keeps_consumers_where_they_are(original, self, asked, got):
    return original(self, asked, got) if self.corrects() else asked.offset


@mutant(GroupAdministration.refuses_as_slave, "A slave creates and deletes groups.", V4)
def slave_changes_groups(original, self):
    return False


@mutant(GroupAdministration.refuses_as_slave, "A slave changes no groups.", V5)
def slave_of_5x_changes_nothing(original, self):
    return self.config.is_slave


# -- what a slave takes over from its master -----------------------------------------------------------------


@mutant(SlaveSync.take_topics, "A slave ignores its master's topics.")
def masters_topics_are_ignored(original, self, body):
    return


@mutant(Topics.take_over, "A slave does not write its master's topics to a file.")
def masters_topics_are_not_kept(original, self, table, version):
    was = self._unwritten
    original(self, table, version)
    self._unwritten = was


@mutant(SlaveSync.take_topics, "A slave ignores topics of its master under a smaller counter.")
def masters_older_topics_are_ignored(original, self, body):
    found = TopicConfigTable.decode(body)
    if found.data_version is None or found.data_version.counter > self.broker.topics.version.counter:
        original(self, body)


@mutant(SlaveSync.take_topics, "A slave takes over its master's topics whatever their version is.", V4)
def masters_topics_are_always_taken(original, self, body):
    found = TopicConfigTable.decode(body)
    if found.data_version is not None:
        self.broker.topics.take_over(found.topic_config_table, found.data_version)


@mutant(SlaveSync.take_topics, "A slave compares the counters of data versions alone.", V4)
def counters_of_topics_are_compared_alone(original, self, body):
    found = TopicConfigTable.decode(body).data_version
    if found is None or found.counter != self.broker.topics.version.counter:
        original(self, body)


@mutant(SlaveSync.take_groups, "A slave ignores its master's groups.")
def masters_groups_are_ignored(original, self, body):
    return


@mutant(SlaveSync.tick, "A slave that was told an odd address of its master never asks again.")
def odd_masters_end_the_asking(original, self, now):
    original(self, now)
    if self.master is not None and vip(self.master) is None:
        self._next_at = NEVER


@mutant(SlaveSync.take_modes, "A slave ignores its master's request modes.", V5)
def masters_modes_are_ignored(original, self, body):
    return


@mutant(SlaveSync.take_modes, "A slave has request modes that its master no longer has.", V5)
def masters_modes_are_added(original, self, body):
    modes = self.broker.assignments._modes
    original(self, body)
    self.broker.assignments.take_over({**modes, **self.broker.assignments._modes})


@mutant(SlaveSync.take_modes, "A slave has no request modes if those of its master are null.", V5)
def masters_null_modes_are_none(original, self, body):
    original(self, body.replace(b":null}", b":{}}"))


@mutant(SlaveSync.take_modes, "A slave does not write its master's request modes to a file.", V5)
def masters_modes_are_not_kept(original, self, body):
    modes = RequestModes.decode(body).modes
    self.broker.assignments._modes = modes


@mutant(Groups.take_over, "A slave does not write its master's groups to a file.")
def masters_groups_are_not_kept(original, self, table, version):
    was = self._unwritten
    original(self, table, version)
    self._unwritten = was


@mutant(SlaveSync.take_offsets, "A slave ignores its master's offsets.")
def masters_offsets_are_ignored(original, self, body):
    return


@mutant(SlaveSync.take_offsets, "A slave keeps the greater of its own and its master's offsets.")
def masters_offsets_only_rise(original, self, body):
    before = {key: dict(offsets) for key, offsets in self.broker.offsets.table.items()}
    original(self, body)
    for key, offsets in before.items():
        mine = self.broker.offsets.table[key]
        mine |= {queue: max(offset, mine.get(queue, 0)) for queue, offset in offsets.items()}


@mutant(SlaveSync.take_offsets, "A slave does not write its master's offsets down.")
def masters_offsets_are_not_kept(original, self, body):
    was = self.broker.offsets._write_now
    original(self, body)
    self.broker.offsets._write_now = was


@mutant(SlaveSync._ask, "A slave takes over what an error of its master carries.")
def errors_of_masters_are_answers(original, self, address, code, take):
    def answered(reply, now):
        if reply is not None and reply.body:
            take(reply.body)

    self.broker.ask(address, Command(code), 3_000, answered)


@mutant(SlaveSync.take_offsets, "A slave keeps its own data version of offsets.", V5)
def masters_versions_of_offsets_are_ignored(original, self, body):
    before = self.broker.offsets.version
    original(self, body)
    self.broker.offsets.version = before


@mutant(TopicAdministration.clean, "Queues of topics that no longer exist stay.")
def cleaning_removes_nothing(original, self, command, connection, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(TopicAdministration.clean, "A cleaning removes the queues of one topic.")
def cleaning_removes_one_topic(original, self, command, connection, now):
    store, table = self.broker.store, self.broker.topics.table
    unused = [one for one in store.topics() if one not in table and not self.broker.topics.is_system(one)]
    for topic in unused[:1]:
        store.delete_topic(topic)
    return Reply(ResponseCode.SUCCESS)


@mutant(TopicAdministration.clean, "A cleaning removes the queues of delayed messages.")
def cleaning_removes_delayed_messages(original, self, command, connection, now):
    self.broker.store.delete_topic(TopicName.SCHEDULE)
    return original(self, command, connection, now)


# -- what says who the master is -----------------------------------------------------------------------------


def _members_unless(original, self, reply, *, old):
    """Members count only in one kind of answer."""
    return None if self.config.compatible_with_old_name_srv == old else original(self, reply)


@mutant(HaMembership.members_in, "The members that a route shows do not count.", V5)
def members_in_routes_do_not_count(original, self, reply):
    return _members_unless(original, self, reply, old=True)


@mutant(HaMembership.members_in, "The members that a group of members shows do not count.", V5)
def members_in_groups_do_not_count(original, self, reply):
    return _members_unless(original, self, reply, old=False)


@mutant(HaMembership._members, "A slave does not conclude from its members that its master has left.", V5)
def members_do_not_say_who_has_left(original, self, members, now):
    if self.smallest is not None:
        self.smallest = self.smallest[0], ""
    original(self, members, now)


@mutant(
    HaMembership.heard_of_smallest, "A slave asks a new master that was named with its place to copy.", V5
)
def named_places_to_copy_are_ignored(original, self, number, address, left, ha_address, now):
    original(self, number, address, left, None, now)


@mutant(HaMembership.exchange, "A slave asks the master in an offer of a replication address for topics.", V5)
def offers_say_who_is_asked(original, self, command, connection, now):
    if "masterHaAddress" in (command.ext or {}):
        self.broker.slave_sync.told(command.ext.get("masterAddress"), None)
    return original(self, command, connection, now)


@mutant(SlaveSync.take_delays, "A slave ignores how far its master has delivered delayed messages.", V5)
def masters_delays_are_ignored(original, self, body):
    pass


@mutant(Resets.reset_here, "A slave resets offsets.", V5)
def slaves_reset_offsets(original, self, command, topic, group, timestamp, now):
    reply = original(self, command, topic, group, timestamp, now)
    if (reply.remark or "").startswith("Can not reset"):
        self.broker.offsets.reset(group, topic, 0, 0, now)
    return reply


@mutant(SlaveSync.take_delays, "A slave takes over how far levels are delivered once.", V5)
def masters_delays_are_taken_once(original, self, body):
    before = dict(self.broker.delays.offsets)
    original(self, body)
    self.broker.delays.offsets |= before


@mutant(SlaveSync.take_delays, "A table of delays that is null resets the levels of a slave.", V5)
def null_delays_are_none(original, self, body):
    if b'"offsetTable":null' in body:
        self.broker.delays.offsets.clear()
    original(self, body)


@mutant(HaMembership.heard_of_smallest, "Slaves that never act for a master ask a new one.", V5)
def every_slave_asks_a_new_master(original, self, number, address, left, ha_address, now):
    acts, self.acts = self.acts, True
    original(self, number, address, left, ha_address, now)
    self.acts = acts


@mutant(HaMembership.heard_of_smallest, "A master minds which id is the smallest of its name.", V5)
def masters_follow_the_smallest_id(original, self, number, address, left, ha_address, now):
    own = self.config.broker_id
    self.config.broker_id = own or 1
    original(self, number, address, left, ha_address, now)
    self.config.broker_id = own


@after(Pulls.pull, "A slave suggests its master to a consumer whose offset it does not have.", V4)
def slave_suggests_its_master(reply):
    if reply is not None and reply.code == ResponseCode.PULL_RETRY_IMMEDIATELY and reply.ext:
        reply.ext["suggestWhichBrokerId"] = "0"


@mutant(Delays.adopt, "A slave does not store how far its master has delivered.", V5)
def masters_delays_are_not_kept(original, self, table):
    self.offsets.update(table.offset_table)


@mutant(HaMembership.heard_of_smallest, "A slave stops asking its master when any Broker has left.", V5)
def masters_leave_with_any_broker(original, self, number, address, left, ha_address, now):
    original(self, number, address, left and self.broker.slave_sync.master, ha_address, now)


@mutant(Pulls.suggested, "A slave that may be read from suggests its master.")
def readable_slave_suggests_its_master(original, self, group):
    return 0 if self.config.is_slave else original(self, group)


@mutant(Topics.of_line, "A topic that has no attributes where it comes from has none.", V5)
def older_masters_leave_out_attributes_of_topics(original, self, topic):
    return topic


@mutant(Groups.take_over, "A slave shows its master's groups as the master describes them.", V5)
def older_masters_leave_out_members_of_groups(original, self, table, version):
    original(self, table, version)
    self.table = dict(table)
