"""Mutants of what accounts may do."""

from harness.wire import RequestCode
from harness.wire.messages import TopicName
from reference_impl.broker.acl.access import Access
from reference_impl.broker.acl.accounts import PUB, SUB
from reference_impl.broker.acl.needs import Need
from reference_impl.mutants.registry import V4, mutant
from reference_impl.remoting.reply import RefusedError

_SENDS = {RequestCode.SEND_MESSAGE: "topic", RequestCode.SEND_MESSAGE_V2: "b"}


@mutant(Access.rights, "Every account may send.", V4)
def everybody_may_send(original, self, account, need):
    return original(self, account, need) | {PUB}


@mutant(Access.rights, "Who may read may send.", V4)
def readers_may_send(original, self, account, need):
    found = original(self, account, need)
    return found | {PUB} if SUB in found else found


@mutant(Access.rights, "Every account may read.", V4)
def everybody_may_pull(original, self, account, need):
    return original(self, account, need) | {SUB}


@mutant(Access.rights, "Only defaults count.", V4)
def rights_by_name_do_not_count(original, self, account, need):
    return account.default_topic if need.kind == "topic" else account.default_group


@mutant(Access.rights, "What an account may do with a topic is its default, and what is said by name.", V4)
def defaults_add_to_rights_by_name(original, self, account, need):
    default = account.default_topic if need.kind == "topic" else account.default_group
    return original(self, account, need) | default


@mutant(Access.rights, "Every group is open to those who may read.", V4)
def groups_are_open(original, self, account, need):
    return original(self, account, need) if need.kind == "topic" else account.default_topic


def _without_rights(code):
    def check(original, self, command, account, needs):
        original(self, command, account, [] if command.code == code else needs)

    return check


batches_need_no_right = mutant(
    Access.check_rights, "Batches need no right.", V4, name="batches-need-no-right"
)(_without_rights(RequestCode.SEND_BATCH_MESSAGE))
heartbeats_need_no_rights = mutant(
    Access.check_rights, "Heartbeats need no rights.", V4, name="heartbeats-need-no-rights"
)(_without_rights(RequestCode.HEART_BEAT))
messages_are_sent_back_without_a_right = mutant(
    Access.check_rights,
    "Messages are sent back without a right.",
    V4,
    name="messages-are-sent-back-without-a-right",
)(_without_rights(RequestCode.CONSUMER_SEND_MSG_BACK))
queries_need_no_right = mutant(
    Access.check_rights, "Queries need no right.", V4, name="queries-need-no-right"
)(_without_rights(RequestCode.QUERY_MESSAGE))


@mutant(Access.check_rights, "Pulls need no right to the group.", V4)
def pulls_need_no_right_to_the_group(original, self, command, account, needs):
    is_pull = command.code == RequestCode.PULL_MESSAGE
    original(self, command, account, [one for one in needs if not is_pull or one.kind == "topic"])


@mutant(Access.needs, "A producer needs the right to its group for leaving.", V4)
def producers_need_a_right_to_leave(original, self, command):
    group = (command.ext or {}).get("producerGroup")
    is_leaving = command.code == RequestCode.UNREGISTER_CLIENT
    return [*original(self, command), *([Need("group", group, PUB)] if group and is_leaving else [])]


@mutant(Access.check_rights, "Commits need no right to the topic.", V4)
def commits_need_no_right_to_the_topic(original, self, command, account, needs):
    is_commit = command.code == RequestCode.UPDATE_CONSUMER_OFFSET
    original(self, command, account, [one for one in needs if not is_commit or one.kind == "group"])


@mutant(Access.check_rights, "Of a heartbeat, the first group and its first topic need rights.", V4)
def the_first_subscription_needs_a_right(original, self, command, account, needs):
    is_beat = command.code == RequestCode.HEART_BEAT
    original(self, command, account, needs[:2] if is_beat else needs)


@mutant(Access.check_rights, "Nothing is served to an account without rights.", V4)
def everything_needs_a_right(original, self, command, account, needs):
    if not (account.admin or account.default_topic):
        raise RefusedError("no rights")
    original(self, command, account, needs)


@mutant(Access.is_trace, "Traces of messages need a right.", V4)
def traces_need_a_right(original, self, needs):
    return False


@mutant(Access.is_for_administrators, "Every account may what administrators may.", V4)
def everybody_is_an_administrator(original, self, code):
    return False


@mutant(Access.is_for_administrators, "Every account may delete topics and groups.", V4)
def deletions_need_no_administrator(original, self, code):
    deletions = (RequestCode.DELETE_TOPIC_IN_BROKER, RequestCode.DELETE_SUBSCRIPTIONGROUP)
    return code not in deletions and original(self, code)


@mutant(Access.may_everything, "Administrators need rights to topics and groups.", V4)
def administrators_need_rights(original, self, account):
    return False


@mutant(Access.may_everything, "Administrators have all rights.", V4)
def administrators_have_all_rights(original, self, account):
    return account.admin


@mutant(Access.may_everything, "Administrators whose groups are named have all rights.", V4)
def administrators_have_rights_beside_groups(original, self, account):
    return account.admin and not account.topics


@mutant(Access.needs, "A send to a retry topic needs the right to this topic.", V4)
def retry_topics_are_topics(original, self, command):
    topic = (command.ext or {}).get(_SENDS.get(command.code, "")) or ""
    if topic.startswith(TopicName.RETRY_PREFIX):
        return [Need("topic", topic, PUB)]
    return original(self, command)
