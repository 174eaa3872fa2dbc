"""Faults of limits of cold reads, lists of groups, and services that a Broker does not have."""

from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import SubscriptionGroupList
from harness.wire.fastjson import document, parse
from reference_impl.broker.absent_services import AbsentServices
from reference_impl.broker.cold_data import ColdData
from reference_impl.broker.group_administration import GroupAdministration
from reference_impl.broker.groups import Groups
from reference_impl.broker.settings import Settings
from reference_impl.mutants.registry import V5, V55, after, mutant
from reference_impl.remoting.reply import Reply

from .answering import answered


@mutant(ColdData.limit, "The limit of a group does not change any more.", V5)
def limits_are_kept_once(original, self, command, connection, now):
    known = dict(self.limits)
    reply = original(self, command, connection, now)
    self.limits |= known
    return reply


@after(ColdData.show, "The limits are shown without what was read.", V5)
def limits_without_what_is_read(reply):
    shown = parse(reply.body)
    assert isinstance(shown, dict)
    lost = ("globalAcc", "runtimeTable")
    return Reply(0, body=document({name: value for name, value in shown.items() if name not in lost}))


@answered(RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG, "A limit is not removed.", V5)
def limits_stay():
    return Reply(0)


@mutant(ColdData.limit, "A limit that is no number is 0.", V5)
def limits_of_any_word(original, self, command, connection, now):
    command.body = command.body.replace(b"=many", b"=0")
    return original(self, command, connection, now)


@mutant(ColdData.limit, "A limit that is no number removes the one before.", V5)
def words_end_limits(original, self, command, connection, now):
    for line in command.body.decode().splitlines():
        if line.endswith("=many"):
            self.limits.pop(line.removesuffix("=many"), None)
    return original(self, command, connection, now)


@mutant(ColdData.limit, "Limits that cannot be read are passed over.", V5)
def broken_limits_are_taken(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return reply if reply.code == 0 else Reply(0)


@mutant(Settings.assume, "The mode in which the log is read is not shown.", V5)
def read_mode_is_not_shown(original, self, pairs):
    return


@answered(RequestCode.SET_COMMITLOG_READ_MODE, "Any mode is taken to read the log.", V5, if_refused=True)
def any_read_mode_is_taken():
    return Reply(0)


@answered(RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS, "Queues in RocksDB are compared at once.", V5)
def queues_in_rocksdb_are_equal():
    return Reply(0, body=document({"checkStatus": 0}))


@answered(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON, "A Broker without RocksDB refuses to export.", V5)
def export_is_refused():
    return Reply(1, remark="there is no RocksDB")


@answered(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON, "Any table is exported.", V5)
def any_table_is_exported():
    return Reply(0, remark="export done.")


@answered(RequestCode.POP_ROLLBACK, "A Broker without RocksDB refuses to leave it.", V5)
def pops_stay_in_rocksdb():
    return Reply(1, remark="there is no RocksDB")


@answered(RequestCode.GET_BROKER_EPOCH_CACHE, "A Broker without a controller shows no epochs.", V5)
def epochs_without_a_controller():
    return Reply(0)


@mutant(AbsentServices.role_changed, "Anyone can tell a Broker that it is a slave.", V5)
def roles_change_without_a_controller(original, self, command, connection, now):
    self.broker.settings.assume({"brokerRole": "SLAVE", "brokerId": "2"})
    return original(self, command, connection, now)


@mutant(AbsentServices.no_users, "Users are made although there is nothing to keep them in.", V5)
def users_are_made(original, self):
    return Reply(0)


@answered(RequestCode.AUTH_LIST_ACL, "Without a provider, there are no rights.", V5)
def rights_are_shown():
    return Reply(0)


@mutant(AbsentServices.no_provider, "A Broker without rights says that it has no users.", V55)
def missing_rights_are_missing_users(original, self, kind):
    return original(self, "authentication")


@mutant(AbsentServices.rights, "Rights without a policy are judged by who may have them.", V5)
def rights_need_no_policies(original, self, command, connection, now):
    return original(self, command, connection, now) if command.body in (b"", b"null") else self.no_users()


@mutant(AbsentServices.rights, "Rights that are not there are judged by who may have them.", V5)
def rights_need_no_body(original, self, command, connection, now):
    return original(self, command, connection, now) if command.body else self.no_users()


@answered(RequestCode.AUTH_GET_USER, "A user without a name is not there.", V5)
def users_need_no_name():
    return Reply(1, remark="An system error occurred, please try again later.")


@answered(RequestCode.AUTH_DELETE_ACL, "Rights of no subject are not there.", V5)
def deletions_need_no_name():
    return Reply(1, remark="An system error occurred, please try again later.")


@mutant(GroupAdministration.update_several, "Of a list of groups, the first one is made.", V5)
def first_group_of_a_list_is_made(original, self, command, connection, now):
    (first, *_) = SubscriptionGroupList.decode(command.body).group_config_list
    self.broker.groups.put(first.of_line(v5=True), now)
    return Reply(0)


@mutant(GroupAdministration.update_several, "A list of groups leaves groups as they are that are known.", V5)
def lists_of_groups_are_new(original, self, command, connection, now):
    known = dict(self.broker.groups.table)
    reply = original(self, command, connection, now)
    self.broker.groups.table |= known
    return reply


@mutant(GroupAdministration.update_several, "The names of a list of groups are not checked.", ["5.5"])
def names_in_a_list_of_groups_are_free(original, self, command, connection, now):
    for group in SubscriptionGroupList.decode(command.body).group_config_list:
        self.broker.groups.put(group.of_line(v5=True), now)
    return Reply(ResponseCode.SUCCESS)


@answered(
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, "A list of no groups is made.", V5, if_refused=True
)
def lists_of_no_groups_are_made():
    return Reply(0)


@mutant(Groups.forbid, "Nothing can be forbidden.", V5)
def nothing_is_forbidden(original, self, group, topic, bit, forbidden, now):
    return


@mutant(Groups.forbid, "What is forbidden stays forbidden.", V5)
def forbidden_for_ever(original, self, group, topic, bit, forbidden, now):
    if forbidden:
        original(self, group, topic, bit, forbidden, now)


@mutant(Groups.forbid, "What is allowed to a group in one topic is allowed in all.", V5)
def one_topic_is_all_topics(original, self, group, topic, bit, forbidden, now):
    original(self, group, topic, bit, forbidden, now)
    if not forbidden:
        self.forbidden.pop(group, None)


@mutant(Groups.forbid, "What is forbidden is not written down.", V5)
def forbidden_is_not_kept(original, self, group, topic, bit, forbidden, now):
    unwritten = self._unwritten
    original(self, group, topic, bit, forbidden, now)
    self._unwritten = unwritten


@answered(RequestCode.SWITCH_TIMER_ENGINE, "Timers move to RocksDB.", ["5.5"])
def timers_move_to_rocksdb():
    return Reply(0, remark="switch timer engine success")


@answered(RequestCode.SWITCH_TIMER_ENGINE, "No engine of timers can be chosen.", ["5.5"])
def timers_cannot_stay_in_files():
    return Reply(ResponseCode.INVALID_PARAMETER, remark="param error")
