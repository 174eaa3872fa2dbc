"""Which queues a client is to consume, where it asks the Broker (400 of 5.x), and whether it pulls or pops.

1. Which queues there are is asked of a NameServer each time. Without an answer, and for a group without
   members, nothing can be said; the client then goes on as it does.
2. Queues to be pulled are divided among the members of a group. Who pops gets all queues of a Broker as one,
   unless an administrator has said (401) with how many others it shares its own.
3. What administrators have said is in `config/messageRequestMode.json` before it is answered.

Source: QueryAssignmentProcessor, MessageRequestModeManager, TopicRouteInfoManager,
AllocateMessageQueueAveragely, AllocateMessageQueueAveragelyByCircle, AdminBrokerProcessor of
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import AssignmentQuestion, MessageQueue, RequestMode, RequestModes, TopicRoute
from harness.wire.bodies import Assignments as Answer
from harness.wire.bodies.broker.pop import REQUEST_MODES
from harness.wire.messages import TopicName
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part
from .tables import as_file, stored_table
from .topics import READ

if TYPE_CHECKING:
    from .core import Broker

REQUEST_MODES_FILE: Final = "config/messageRequestMode.json"
_ROUTE_WITHIN: Final = 3_000
_MODELS: Final = ("CLUSTERING", "BROADCASTING")
_EVENLY, _IN_TURN = "AVG", "AVG_BY_CIRCLE"
"""How queues are divided: as many neighbours for each, or one for each in turn."""


class Assignments(Part):
    """Assigns queues to clients."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._modes: dict[str, dict[str, RequestMode]] = {}
        if self.profile.v5:
            stored = stored_table(broker.stored, REQUEST_MODES_FILE, RequestModes.decode)
            self._modes = {} if stored is None else stored.modes

    # -- who pulls and who pops ------------------------------------------------------------------------------

    @answers(RequestCode.SET_MESSAGE_REQUEST_MODE, v5=True)
    def set_mode(self, command: Command, connection: int, now: int) -> Reply:
        asked = required.body(command, RequestMode.decode, self.profile.engine)
        if asked.topic is None or asked.consumer_group is None:
            raise RefusedError("expected topic and consumerGroup")
        if asked.topic.startswith(TopicName.RETRY_PREFIX):
            return Reply(ResponseCode.NO_PERMISSION, remark="retry topic is not allowed to set mode")
        if self.broker.topics.get(asked.topic) is None:
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{asked.topic}] not exist")
        if self.broker.groups.find(asked.consumer_group, now) is None:
            remark = "subscription group does not exist"
            return Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)
        mode = asked.mode if asked.mode in REQUEST_MODES else None
        self._modes.setdefault(asked.topic, {})[asked.consumer_group] = replace(asked, mode=mode)
        self.keep()
        return Reply(ResponseCode.SUCCESS)

    def take_over(self, modes: dict[str, dict[str, RequestMode]]) -> None:
        """Replace everything by what a master has."""
        self._modes = modes
        self.keep()

    def keep(self) -> None:
        """Write what administrators have said."""
        self.broker.persist(REQUEST_MODES_FILE, as_file(RequestModes(self._modes).document()))

    @answers(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE, v5=True)
    def all_modes(self, command: Command, connection: int, now: int) -> Reply:
        """For slaves."""
        return Reply(ResponseCode.SUCCESS, body=RequestModes(self._modes).encode())

    def mode(self, group: str, topic: str) -> RequestMode:
        """How a group consumes a topic."""
        known = self._modes.get(topic, {}).get(group)
        if known is not None:
            return known
        if topic.startswith(TopicName.RETRY_PREFIX):
            return RequestMode(group, "PULL", 0, topic)
        config = self.config
        return RequestMode(
            group, config.default_message_request_mode, config.default_pop_share_queue_num, topic
        )

    # -- who gets what ---------------------------------------------------------------------------------------

    @answers(RequestCode.QUERY_ASSIGNMENT, v5=True)
    def assign(self, command: Command, connection: int, now: int) -> None:
        """The answer comes with that of a NameServer."""
        asked = required.body(command, AssignmentQuestion.decode, self.profile.engine)
        if asked.topic is None or asked.consumer_group is None or asked.message_model not in _MODELS:
            raise RefusedError("expected topic, consumerGroup and messageModel")
        question = Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, ext={"topic": asked.topic})

        def answered(reply: Command | None, now: int) -> None:
            try:
                queues = None if reply is None else self.queues(asked.topic or "", reply)
            except WireError as error:
                refused = RefusedError(f"the route of the topic cannot be read: {error}")
                self.broker.answer(connection, command, refused.reply())
                return
            self.broker.answer(connection, command, self.answer(asked, queues))

        self.broker.registrar.ask_any(question, _ROUTE_WITHIN, answered, now)

    def queues(self, topic: str, reply: Command) -> list[MessageQueue] | None:
        """All queues of a topic that can be read, in order; None: there is none. Raises WireError."""
        if reply.code != ResponseCode.SUCCESS:
            return None
        route = TopicRoute.decode(reply.body)
        found = [
            MessageQueue(data.broker_name, number, topic)
            for data in route.queue_datas
            if data.perm & READ
            for number in range(data.read_queue_nums)
        ]
        return sorted(found, key=lambda queue: (queue.broker_name or "", queue.queue_id))

    def answer(self, asked: AssignmentQuestion, queues: list[MessageQueue] | None) -> Reply:
        """The answer to a client."""
        mode = self.mode(asked.consumer_group or "", asked.topic or "")
        shares = asked.message_model == "CLUSTERING" and self.config.server_load_balancer_enable
        if queues is not None and shares:
            queues = self.share(asked, queues, mode)
        return Reply(ResponseCode.SUCCESS, body=Answer(queues, mode.mode or "PULL").encode())

    def share(
        self, asked: AssignmentQuestion, queues: list[MessageQueue], mode: RequestMode
    ) -> list[MessageQueue] | None:
        """A member's part of the queues; None: nothing can be said."""
        group = self.broker.clients.consumers.get(asked.consumer_group or "")
        if group is None or asked.strategy_name not in (_EVENLY, _IN_TURN):
            return None
        members = sorted(client.id for client in group.members.values())
        client, share = asked.client_id or "", mode.pop_share_queue_num
        if mode.mode != "POP":
            return self.divided(queues, members, client, asked.strategy_name)
        if not 0 < share < len(members) - 1:
            brokers = dict.fromkeys(queue.broker_name for queue in queues)
            return [MessageQueue(broker, -1, asked.topic) for broker in brokers]
        if client not in members:
            return []
        index = members.index(client)
        if len(members) > len(queues):
            return [queues[index % len(queues)]]
        sharing = [members[(index + more) % len(members)] for more in range(share + 1)]
        parts = [self.divided(queues, members, one, asked.strategy_name) for one in sharing]
        return list(dict.fromkeys(queue for part in parts for queue in part))

    def divided(
        self, queues: list[MessageQueue], members: list[str], client: str, strategy: str
    ) -> list[MessageQueue]:
        """The part of one member."""
        if client not in members:
            return []
        index, count = members.index(client), len(members)
        if strategy == _IN_TURN:
            return queues[index::count]
        size, over = divmod(len(queues), count)
        start = index * size + min(index, over)
        return queues[start : start + size + (index < over)]
