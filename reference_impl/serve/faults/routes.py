"""Faults of routes: what a NameServer answers to 105."""

import copy
from typing import Final

import msgspec

from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import TopicRoute
from reference_impl.nameserver import Endpoint
from reference_impl.remoting.endpoint import RemotingEndpoint
from reference_impl.remoting.reply import Reply

from .actions import Action, Verdict
from .request import WORDS, Request

_MASTER: Final = 0
_SLAVE: Final = 1


class _Route(Action):
    """A route that differs from what the NameServer knows."""

    codes: Final = WORDS["route"]

    def wants(self, request: Request) -> bool:
        return request.command.code == RequestCode.GET_ROUTEINFO_BY_TOPIC and bool(request.topics)

    def before(self, request: Request, endpoint: RemotingEndpoint) -> Verdict:
        assert isinstance(endpoint, Endpoint)
        nameserver = endpoint.nameserver
        (topic,) = request.topics
        route = self.route(endpoint, topic)
        if route is None:
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=nameserver.unknown_topic(topic))
        standard = nameserver.wants_standard_json(request.command)
        return Reply(ResponseCode.SUCCESS, body=nameserver.encoded_route(route, standard))

    def route(self, endpoint: Endpoint, topic: str) -> TopicRoute | None:
        """The route that is answered, None for no route."""
        raise NotImplementedError


class EmptyRoute(_Route):
    """A topic has no route. A NameServer never answers with an empty one: it does not know the topic."""

    def route(self, endpoint: Endpoint, topic: str) -> TopicRoute | None:
        return None


class NoMaster(_Route):
    """Brokers of a route have no master. One that has no slave either is its own slave, as after a change of
    roles: so it can be read from, and not be sent to.
    """

    def route(self, endpoint: Endpoint, topic: str) -> TopicRoute | None:
        route = endpoint.nameserver.route(topic)
        if route is None:
            return None
        for broker in route.broker_datas:
            if _MASTER not in broker.broker_addrs:
                continue
            addresses = {number: at for number, at in broker.broker_addrs.items() if number != _MASTER}
            broker.broker_addrs = addresses or {_SLAVE: broker.broker_addrs[_MASTER]}
        return route


class ReversedRoute(_Route):
    """The queues and Brokers of a route come in the reverse order. (The lists have none.)"""

    def route(self, endpoint: Endpoint, topic: str) -> TopicRoute | None:
        route = endpoint.nameserver.route(topic)
        if route is None:
            return None
        queues, brokers = list(reversed(route.queue_datas)), list(reversed(route.broker_datas))
        return msgspec.structs.replace(route, queue_datas=queues, broker_datas=brokers)


class StaleRoute(_Route):
    """The route of a topic is what it was when the fault began."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._former: dict[Endpoint, TopicRoute | None] = {}

    def begin(self, endpoint: RemotingEndpoint) -> None:
        if isinstance(endpoint, Endpoint):
            self._former[endpoint] = copy.deepcopy(endpoint.nameserver.route(self._topic))

    def route(self, endpoint: Endpoint, topic: str) -> TopicRoute | None:
        return self._former[endpoint]
