"""The faults of one server: what stands between its connections and what it makes of their requests.

1. While there are rules, `execute`, `push` and `left` of this one endpoint are the layer's, which calls the
   endpoint's own. Without rules they are the endpoint's own again: then faults cost nothing, because there
   is nothing.
2. Rules are asked in the order in which they began. Several may take one request: each sees what those
   before it have left of it.
3. An answer that a rule has taken is sent behind what else the server says in that turn of the loop, and
   not before its message is durable. A late answer is taken too, even if the rule has ended since.
"""

import asyncio
from functools import partial
from typing import Any

from harness.wire import Command, decode
from reference_impl.broker import Endpoint as BrokerEndpoint
from reference_impl.remoting.effects import Effect
from reference_impl.remoting.endpoint import RemotingEndpoint
from reference_impl.remoting.reply import Reply
from reference_impl.serve.shell import Shell

from .actions import Action, Delivery, Lost, Verdict
from .request import Request, names_of, read
from .rule import Rule

_SHADOWED = ("execute", "push", "left")


class Layer:
    """`server` is the name by which selectors know it. Used in the event loop of the shell alone."""

    def __init__(self, server: str, shell: Shell[Any]) -> None:
        self._server = server
        self._shell = shell
        self._rules: list[Rule] = []
        self._late: dict[int, dict[int, tuple[Request, list[Action]]]] = {}
        """By connection and opaque: what is answered later, and what happens to it."""

    @property
    def endpoint(self) -> RemotingEndpoint:
        """The server; a shell that begins again has another one."""
        endpoint: RemotingEndpoint = self._shell.endpoint
        return endpoint

    def begin(self, rule: Rule) -> None:
        """From now on a rule is asked."""
        self._rules.append(rule)
        self._step()
        rule.begin(self.endpoint)
        self._shell.perform(self.endpoint.work())

    def end(self, rule: Rule) -> None:
        """A rule is not asked any more."""
        if rule in self._rules:
            self._rules.remove(rule)
            rule.end(self.endpoint)
            self._shell.perform(self.endpoint.work())
        self._step()

    def is_at(self, server: str | None) -> bool:
        """Whether this is a server that a selector means; None: every one is."""
        return server is None or server in names_of(self._server)

    def reset_client(self, client: str) -> int:
        """Reset the connections of a client, and return how many it had."""
        found = {connection for connection, known in self._clients().items() if known == client}
        for connection in found:
            self._shell.reset(connection)
        return len(found)

    def _end_used(self) -> None:
        """End the rules that have happened as often as they are to."""
        for rule in [rule for rule in self._rules if rule.is_over]:
            self.end(rule)

    def _step(self) -> None:
        """Step in or out."""
        own = vars(self.endpoint)
        if self._rules or self._late:
            own.update(execute=self._execute, push=self._push, left=self._left)
        else:
            for name in _SHADOWED:
                own.pop(name, None)

    # -- what the endpoint calls -----------------------------------------------------------------------------

    def _execute(self, command: Command, connection: int, now: int) -> Reply | None:
        own = partial(type(self.endpoint).execute, self.endpoint)
        request = read(self._server, connection, command, self._clients().get(connection))
        taken: list[Action] = []
        verdict: Verdict = None
        for rule in self._rules:
            action = rule.take(request)
            if action is not None:
                taken.append(action)
                verdict = action.before(request, self.endpoint)
                if verdict is not None:
                    break
        if any(rule.is_over for rule in self._rules):
            asyncio.get_running_loop().call_soon(self._end_used)
        if isinstance(verdict, Lost):
            return None
        reply = own(request.command, connection, now) if verdict is None else verdict
        if not taken:
            return reply
        if command.is_oneway:
            self._deliver(request, taken, None)
        elif reply is None:
            self._late.setdefault(connection, {})[command.opaque] = request, taken
        else:
            self._deliver(request, taken, self.endpoint.response(command, reply))
        return None

    def _push(self, connection: int, frame: bytes) -> list[Effect]:
        if connection in self._late:
            response = decode(frame, invalid_utf8="replace")
            late = self._late[connection].pop(response.opaque, None) if response.is_response else None
            if late is not None:
                self._deliver(*late, response)
                return []
        return self._sent(connection, frame)

    def _left(self, connection: int, peer: str) -> None:
        self._late.pop(connection, None)
        type(self.endpoint).left(self.endpoint, connection, peer)
        self._step()

    # -- what becomes of an answer ---------------------------------------------------------------------------

    def _deliver(self, request: Request, actions: list[Action], response: Command | None) -> None:
        delivery = Delivery(response)
        for action in actions:
            action.after(request, delivery)
        loop = asyncio.get_running_loop()
        if delivery.stalls:
            self._shell.pause()
            loop.call_later(delivery.stalls, self._shell.resume)
        loop.call_later(delivery.delay, self._send, request.connection, delivery)

    def _send(self, connection: int, delivery: Delivery) -> None:
        endpoint = self.endpoint
        if delivery.response is not None:
            frame = delivery.damage(endpoint.write(delivery.response))
            self._shell.perform(self._sent(connection, frame))
        if delivery.resets:
            self._shell.reset(connection)
        elif delivery.ends:
            self._shell.perform(endpoint.close(connection) + endpoint.work())

    def _sent(self, connection: int, frame: bytes) -> list[Effect]:
        return type(self.endpoint).push(self.endpoint, connection, frame)

    def _clients(self) -> dict[int, str]:
        """The ids of clients by connection, as their heartbeats say."""
        if not isinstance(self.endpoint, BrokerEndpoint):
            return {}
        clients = self.endpoint.broker.clients
        members = [*(group.members for group in clients.consumers.values()), *clients.producers.values()]
        return {connection: client.id for known in members for connection, client in known.items()}
