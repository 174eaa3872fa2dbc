"""Other Brokers, and what is asked of them about parts of mapped queues (5.x).

1. While a mapping names another Broker, a NameServer is asked every 5 s where all masters are (106), first
   when the mapping comes. A Broker that is not in the answer keeps its last address; one that is there with
   slaves alone has no master.
2. A request goes on as it came, without the signature of the client, with `lo=false` and the name of the
   other Broker.
3. Silence for `forwardTimeout`, and a code that answers nothing, are SYSTEM_ERROR to the client.

(Apache asks for masters every 5 s in any case, first after 10 s.)

Source: BrokerController#startBasicService, BrokerOuterAPI#refreshMetadata, RpcClientImpl#invoke of
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import ClusterInfo
from reference_impl.remoting.reply import RefusedError, Reply

from .acl.signature import ACCESS_KEY, SIGNATURE
from .mappings import QueuePart
from .part import NEVER, Part

if TYPE_CHECKING:
    from .core import Broker

MASTER: Final = 0
_EVERY: Final = 5_000
_WITHIN: Final = 3_000
_OF_THE_CLIENT: Final = frozenset({ACCESS_KEY, SIGNATURE})


class Question(msgspec.Struct, frozen=True):
    """A request to another Broker."""

    broker: str
    command: Command
    answers: Collection[int]
    """Codes that answer it."""


Steps: TypeAlias = Generator[Question, Command, Reply]
"""How a reply comes about: each question is sent an answer to it. May raise RefusedError."""


class OtherBrokers(Part):
    """Knows where other Brokers are, and asks them."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._masters: dict[str, str] = {}
        self._next_at = broker.started if broker.static_topics.other_brokers() else NEVER

    # -- where they are --------------------------------------------------------------------------------------

    def next_tick(self) -> int:
        return self._next_at

    def tick(self, now: int) -> None:
        self._next_at = now + _EVERY if self.broker.static_topics.other_brokers() else NEVER
        question = Command(code=RequestCode.GET_BROKER_CLUSTER_INFO)
        self.broker.registrar.ask_any(question, _WITHIN, self._found, now)

    def mapped(self, now: int) -> None:
        """A mapping has come or gone."""
        if self._next_at == NEVER and self.broker.static_topics.other_brokers():
            self._next_at = now

    def _found(self, reply: Command | None, now: int) -> None:
        if reply is None or reply.code != ResponseCode.SUCCESS:
            return
        try:
            found = ClusterInfo.decode(reply.body)
        except WireError:
            return
        for name, broker in found.broker_addr_table.items():
            if MASTER in broker.broker_addrs:
                self._masters[name] = broker.broker_addrs[MASTER]
            else:
                self._masters.pop(name, None)

    def master(self, name: str) -> str:
        """The address of a Broker's master. Raises RefusedError."""
        if name not in self._masters:
            raise RefusedError(f"cannot find addr for broker {name}")
        return self._masters[name]

    # -- what they are asked ---------------------------------------------------------------------------------

    def question(
        self,
        command: Command,
        part: QueuePart,
        *answers: int,
        code: int | None = None,
        **changes: object,
    ) -> Question:
        """A request of a client as it goes on to the Broker that has a part; `code`: as another request."""
        own = {"queueId": part.queue_id, "lo": "false", "bname": part.bname, **changes}
        ext = {name: text for name, text in (command.ext or {}).items() if name not in _OF_THE_CLIENT}
        ext |= {name: str(value) for name, value in own.items()}
        forwarded = Command(code=command.code if code is None else code, ext=ext)
        return Question(part.bname, forwarded, answers or (ResponseCode.SUCCESS,))

    def conduct(self, steps: Steps, command: Command, connection: int) -> Reply | None:
        """The reply that steps come to; None: another Broker is asked first, and it is answered later.

        Raises RefusedError, if that does not happen later.
        """

        def go_on(advance: Callable[[], Question]) -> Reply | None:
            try:
                question = advance()
            except StopIteration as end:
                reply: Reply = end.value
                return reply
            address = self.master(question.broker)

            def answered(response: Command | None, now: int) -> None:
                try:
                    answer = self.checked(question, response)
                    reply = go_on(lambda: steps.send(answer))
                except RefusedError as error:
                    reply = error.reply()
                if reply is not None:
                    self.broker.answer(connection, command, reply)

            self.broker.ask(address, question.command, self.within(), answered)
            return None

        return go_on(lambda: next(steps))

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def within(self) -> int:
        """ms that another Broker has for its answer."""
        return self.config.forward_timeout

    def checked(self, question: Question, response: Command | None) -> Command:
        """What answers a question. Raises RefusedError."""
        if response is None:
            raise RefusedError(f"{question.broker} did not answer within {self.within()} ms")
        if response.code not in question.answers:
            raise RefusedError(f"{question.broker} answered {response.code}: {response.remark}")
        return response
