"""Faults of the assignment of queues to members."""

import json

from msgspec.structs import replace

from harness.wire import ResponseCode, WireError
from harness.wire.bodies import Assignments as Answer
from harness.wire.bodies import RequestMode, RequestModes
from harness.wire.fastjson import document
from harness.wire.messages import TopicName
from reference_impl.broker.assignments import Assignments
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import Reply


@mutant(Assignments.set_mode, "The mode of a group can be set for unknown topics.", V5)
def modes_need_no_topic(original, self, command, connection, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(Assignments.set_mode, "The mode can be set without a group.", V5)
def modes_need_no_group(original, self, command, connection, now):
    body = {"consumerGroup": "DEFAULT", **json.loads(command.body or b"{}")}
    return original(self, replace(command, body=document(body)), connection, now)


@mutant(Assignments.set_mode, "The mode can be set for groups that do not exist.", V5)
def modes_of_unknown_groups_are_set(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(0) if reply.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST else reply


@mutant(Assignments.divided, "Every member of a group is assigned all queues.", V5)
def queues_are_everybodys(original, self, queues, members, client, strategy):
    return queues


@mutant(Assignments.divided, "A member beyond the queues pulls from one that another member has.", V5)
def members_beyond_the_queues_pull(original, self, queues, members, client, strategy):
    found = original(self, queues, members, client, strategy)
    return found or (queues[:1] if client in members else [])


@mutant(Assignments.mode, "The request mode of a group has no effect.", V5)
def modes_do_not_count(original, self, group, topic):
    return RequestMode(group, "PULL", 0, topic)


@mutant(Assignments.share, "A group without members is assigned all queues.", V5)
def who_is_no_member_gets_all(original, self, asked, queues, mode):
    return original(self, asked, queues, mode) or queues


def _asking(original, self, command, connection, now, **assumed):
    """A question for an assignment that has these members unless it says otherwise."""
    body = {**assumed, **json.loads(command.body)}
    return original(self, replace(command, body=document(body)), connection, now)


@mutant(Assignments.assign, "An assignment without a group is one for no member.", V5)
def assignments_need_no_group(original, self, command, connection, now):
    return _asking(original, self, command, connection, now, consumerGroup="")


@mutant(Assignments.assign, "An assignment without a model is one for clustering.", V5)
def assignments_need_no_model(original, self, command, connection, now):
    return _asking(original, self, command, connection, now, messageModel="CLUSTERING")


@mutant(Assignments.divided, "A client that is no member of a group that pulls is assigned all queues.", V5)
def who_is_no_member_pulls_all(original, self, queues, members, client, strategy):
    return original(self, queues, members, client, strategy) if client in members else queues


@mutant(Assignments.share, "A client that is no member of a group that pops is assigned all queues.", V5)
def who_is_no_member_pops_all(original, self, asked, queues, mode):
    found = original(self, asked, queues, mode)
    return found if found or mode.mode == "PULL" else queues


@mutant(Assignments.queues, "A route that cannot be read is none.", V5)
def unreadable_routes_are_none(original, self, topic, reply):
    try:
        return original(self, topic, reply)
    except WireError:
        return None


@mutant(Assignments.keep, "A restart loses the request mode of a group.", V5)
def modes_are_forgotten(original, self):
    return None


@after(Assignments.all_modes, "Code 402 shows no request mode.", V5)
def modes_are_hidden(reply):
    return Reply(0, body=RequestModes({}).encode())


@after(Assignments.all_modes, "Code 402 shows the request mode of one group of each topic.", V5)
def one_mode_of_a_topic_is_shown(reply):
    name = "messageRequestModeMap"
    found = json.loads(reply.body)[name]
    return Reply(0, body=document({name: {one: dict([*modes.items()][-1:]) for one, modes in found.items()}}))


@mutant(Assignments.share, "A member that pops shares no queues with others.", V5)
def pop_queues_are_not_shared(original, self, asked, queues, mode):
    alone = RequestMode(mode.consumer_group, "PULL", 0, mode.topic) if mode.pop_share_queue_num == 1 else mode
    return original(self, asked, queues, alone)


@mutant(Assignments.share, "As many members that pop as there are queues share none.", V5)
def pop_queues_of_as_many_members_are_not_shared(original, self, asked, queues, mode):
    group = self.broker.clients.consumers.get(asked.consumer_group)
    if group is None or len(group.members) != len(queues) or mode.pop_share_queue_num != 1:
        return original(self, asked, queues, mode)
    members = sorted(client.id for client in group.members.values())
    return self.divided(queues, members, asked.client_id, asked.strategy_name)


@mutant(Assignments.share, "Members that pop share queues as neighbours, whatever the strategy.", V5)
def pop_queues_are_always_shared_evenly(original, self, asked, queues, mode):
    known = mode.mode == "POP" and asked.strategy_name == "AVG_BY_CIRCLE"
    return original(self, replace(asked, strategy_name="AVG") if known else asked, queues, mode)


@mutant(Assignments.share, "Of more members than queues, those beyond the queues get none.", V5)
def members_beyond_the_queues_pop_nothing(original, self, asked, queues, mode):
    found = original(self, asked, queues, mode)
    members = sorted(one.id for one in self.broker.clients.consumers[asked.consumer_group].members.values())
    return found if members.index(asked.client_id) < len(queues) else []


@mutant(Assignments.mode, "The configured default mode has no effect.", V5)
def default_mode_is_pull(original, self, group, topic):
    known = original(self, group, topic)
    return known if topic in self._modes else RequestMode(group, "PULL", 0, topic)


@mutant(Assignments.mode, "defaultPopShareQueueNum has no effect.", V5)
def default_mode_shares_nothing(original, self, group, topic):
    known = original(self, group, topic)
    return known if topic in self._modes else replace(known, pop_share_queue_num=-1)


@mutant(Assignments.mode, "The configured default mode applies to retry topics.", V5)
def retry_topics_have_the_default_mode(original, self, group, topic):
    return original(self, group, topic.removeprefix(TopicName.RETRY_PREFIX))


@after(
    Assignments.answer, "A topic without a route is assigned no queues, which clients take as an order.", V5
)
def unknown_topics_have_no_queues(reply, queues):
    if queues is None:
        reply.body = Answer([], "PULL").encode()


@mutant(Assignments.queues, "The route that an error has is one.", V5)
def errors_have_routes(original, self, topic, reply):
    return original(self, topic, replace(reply, code=0) if reply.body else reply)


@mutant(Assignments.answer, "Members of a broadcasting group share the queues.", V5)
def broadcasting_members_share_queues(original, self, asked, queues):
    return original(self, replace(asked, message_model="CLUSTERING"), queues)


@after(Assignments.queues, "Only the queues of the first Broker of a route are assigned.", V5)
def queues_of_one_broker_are_assigned(found):
    found[:] = [queue for queue in found if queue.broker_name == found[0].broker_name]


@mutant(Assignments.answer, "The Broker balances queues although it is configured not to.", V5)
def queues_are_always_balanced(original, self, asked, queues):
    mode = self.mode(asked.consumer_group, asked.topic)
    shared = None if queues is None else self.share(asked, queues, mode)
    return original(self, asked, shared)


@mutant(
    Assignments.queues, "Queues are assigned in the order of their numbers, whichever Broker has them.", V5
)
def assigned_queues_are_mixed(original, self, topic, reply):
    found = original(self, topic, reply)
    return found and sorted(found, key=lambda queue: queue.queue_id)


@mutant(Assignments.keep, "A mode is written when it is set first, and not when it changes.", V5)
def changed_modes_are_not_written(original, self):
    count = sum(map(len, self._modes.values()))
    if count > self.__dict__.setdefault("modes_written", 0):
        original(self)
    self.modes_written = count


@mutant(Assignments.assign, "Who asks for queues is known by an ASCII name.", V5)
def assignments_are_for_ascii_names(original, self, command, connection, now):
    body = command.body.decode(errors="replace").encode("ascii", "replace")
    return original(self, replace(command, body=body), connection, now)
