"""Faults of groups and of the cleaning of queues."""

import msgspec

from harness.wire import RequestCode, ResponseCode
from harness.wire.fastjson import document
from reference_impl.broker.group_administration import GroupAdministration
from reference_impl.broker.groups import Groups
from reference_impl.broker.offsets import Offsets
from reference_impl.broker.topic_administration import TopicAdministration
from reference_impl.mutants.registry import BEFORE_55, V4, V5, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply

from .answering import answered


@mutant(Groups.put, "A new group has default settings, whatever the request contains.")
def groups_are_made_with_defaults(original, self, group, now):
    original(self, self.made(group.group_name or ""), now)


@mutant(Groups.__init__, "Of the system's groups, there is the first one.")
def one_system_group_is_made(original, self, broker):
    original(self, broker)
    self.table = dict(list(self.table.items())[:1])


@mutant(Groups.__init__, "There is no group for what reads half messages.", V5)
def half_messages_have_no_group(original, self, broker):
    original(self, broker)
    self.table.pop("CID_RMQ_SYS_TRANS", None)


@mutant(Groups.put, "What is true of a group stays true.", V5)
def groups_never_lose_a_flag(original, self, group, now):
    known = self.table.get(group.group_name or "")
    if known is not None and known.consume_message_orderly:
        group = msgspec.structs.replace(group, consume_message_orderly=True)
    original(self, group, now)


@mutant(GroupAdministration.wanted, "A group with attributes that cannot be is made without them.", V5)
def attributes_of_groups_are_not_judged(original, self, group):
    try:
        return original(self, group)
    except RefusedError:
        return group.of_line(v5=True)


@mutant(GroupAdministration.all_wanted, "Attributes of groups in a list are taken as they are.", V5)
def attributes_of_listed_groups_are_not_judged(original, self, groups):
    return [group.of_line(v5=True) for group in groups]


@mutant(GroupAdministration.wanted, "Attributes of a request replace those that a group had.", ["5.5"])
def attributes_of_groups_are_replaced(original, self, group):
    known = self.broker.groups.table.get(group.group_name)
    if known is not None and not group.attributes:
        return group.of_line(v5=True)
    return original(self, group)


@mutant(GroupAdministration.wanted, "Attributes of groups are never removed.", ["5.5"])
def attributes_of_groups_stay(original, self, group):
    added = {key: value for key, value in (group.attributes or {}).items() if key[:1] != "-"}
    return original(self, msgspec.structs.replace(group, attributes=added))


@mutant(GroupAdministration.wanted, "Attributes of groups take any value.", ["5.5"])
def attributes_of_groups_have_any_value(original, self, group):
    wanted = original(self, msgspec.structs.replace(group, attributes={}))
    set_ = {key[1:]: value for key, value in (group.attributes or {}).items() if key[:1] == "+"}
    return (
        msgspec.structs.replace(wanted, attributes={**wanted.attributes, **set_})
        if set_
        else original(self, group)
    )


@answered(
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
    "A request without a body to create a group succeeds.",
    BEFORE_55,
    if_refused=True,
)
def empty_groups_are_made():
    return Reply(0)


@mutant(GroupAdministration.update, "A request without a body to create a group is refused.", ["5.5"])
def groups_without_body_are_refused(original, self, command, connection, now):
    return original(self, command, connection, now) if command.body else Reply(ResponseCode.SYSTEM_ERROR)


@answered(RequestCode.DELETE_SUBSCRIPTIONGROUP, "Deleting a group succeeds without removing it.")
def groups_are_not_deleted():
    return Reply(0)


@mutant(TopicAdministration.clean_queues, "Cleaning removes queues that still have messages.")
def cleaning_removes_queues_in_use(original, self, command, connection, now):
    for topic in [*self.broker.store.topics()]:
        self.broker.store.delete_topic(topic)
    return original(self, command, connection, now)


@answered(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE, "The server refuses to clean queues.")
def cleaning_of_queues_is_refused():
    return Reply(1)


@mutant(GroupAdministration.one_group, "Code 352 returns the group that was created last.", V5)
def newest_group_is_shown(original, self, command, connection, now):
    return Reply(0, body=document([*self.broker.groups.table.values()][-1].document()))


@mutant(GroupAdministration.one_group, "Code 352 creates no group.", V5)
def group_that_is_asked_for_is_unknown(original, self, command, connection, now):
    known = self.broker.groups.table.get(command.ext["group"])
    return Reply(26) if known is None else Reply(0, body=document(known.document()))


@after(GroupAdministration.one_group, "Code 352 for an unknown group succeeds without a body.", V5)
def unknown_group_is_shown(reply):
    return Reply(0) if reply.code else reply


@mutant(Groups.put, "A group keeps the members that 4.9 has too, and no others.", V5)
def groups_lose_members_of_5x(original, self, group, now):
    original(self, group.of_line(False).of_line(True), now)


@mutant(Groups.put, "A group has members that only 5.x knows.", V4)
def groups_have_members_of_5x(original, self, group, now):
    original(self, group.of_line(True), now)


@mutant(Groups.fault, "A group can be created with any name.", ["5.5"])
def groups_have_any_name(original, self, group):
    return None


@mutant(Groups.fault, "Names of groups have no limit.", ["5.5"])
def groups_have_long_names(original, self, group):
    return original(self, group and group[:100])


@mutant(Groups.fault, "Names of groups have at most 100 characters.", ["5.5"])
def groups_have_shorter_names(original, self, group):
    return original(self, group) or ("The name is too long." if group and len(group) > 100 else None)


@mutant(Groups.settle, "Groups are not written to a file.")
def restarts_forget_groups(original, self, now):
    return


@mutant(Groups.version_of, "After a restart, the version of the table of groups goes on.", V4)
def version_of_groups_goes_on(original, self, stored):
    return stored.data_version or self.version


@after(Groups.__init__, "After a restart, the version of the table of groups begins anew.", V5)
def version_of_groups_begins_anew(made, self):
    self.version = msgspec.structs.replace(self.version, counter=0)


@mutant(GroupAdministration.update, "A group without a name gets a default name.")
def groups_need_no_name(original, self, command, connection, now):
    if command.body:
        body = msgspec.json.encode({"groupName": "DEFAULT", **msgspec.json.decode(command.body)})
        command = msgspec.structs.replace(command, body=body)
    return original(self, command, connection, now)


def _cleaning(original, self, command, connection, now, *, said):
    ext = {**(command.ext or {}), "cleanOffset": said, "removeOffset": said}
    return original(self, msgspec.structs.replace(command, ext=ext), connection, now)


@mutant(GroupAdministration.delete, "The deletion of a group keeps its offsets, even on request.")
def deletion_keeps_offsets_of_groups(original, self, command, connection, now):
    return _cleaning(original, self, command, connection, now, said="false")


@mutant(Offsets.forget, "Offsets that were forgotten come back with the next start.")
def forgotten_offsets_come_back(original, self, *, group, topic):
    was = self._write_now
    original(self, group=group, topic=topic)
    self._write_now = was


@mutant(GroupAdministration.delete, "The deletion of a group always forgets its offsets.")
def deletion_always_forgets_offsets_of_groups(original, self, command, connection, now):
    return _cleaning(original, self, command, connection, now, said="true")


@mutant(Groups.delete, "The deletion of an unknown group changes the data version of groups.")
def deletion_of_unknown_groups_is_a_change(original, self, group, now):
    found = original(self, group, now)
    if not found:
        self.changed(now)
    return found


@mutant(GroupAdministration.update, "The text `null` in place of a boolean means false.", BEFORE_55)
def null_in_quotes_is_false(original, self, command, connection, now):
    body = command.body.replace(b'"null"', b"false")
    return original(self, msgspec.structs.replace(command, body=body), connection, now)


@mutant(Groups.put, "A change of a group that is there is not written.")
def changed_groups_are_not_written(original, self, group, now):
    was = self._unwritten or group.group_name not in self.table
    original(self, group, now)
    self._unwritten = was


@mutant(Groups.delete, "The deletion of a group is not written.")
def deleted_groups_are_not_written(original, self, group, now):
    was = self._unwritten
    found = original(self, group, now)
    self._unwritten = was
    return found


@mutant(Groups.find, "A group that a pull makes does not change the time of the table.")
def groups_that_pull_date_back(original, self, group, now):
    return original(self, group, 1)


@mutant(Groups.changed, "A change of groups leaves the time of the table as it is.")
def groups_keep_the_time_of_the_start(original, self, now):
    original(self, self.version.timestamp)
