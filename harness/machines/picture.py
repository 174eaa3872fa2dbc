"""What should exist on the servers while a program is being made: rules choose their arguments by it.

Rules of this module:
- It steers, judges nothing, and sees no answer: the same steps give the same picture on every target. Where
  it is wrong a program is duller than it could be.
- One `harness.differential.model.Model` for each server, and what programs do that those do not know: several
  servers, connections that are replaced, restarts, KV pairs.
"""

from __future__ import annotations

from harness.differential.model import Model
from harness.program.steps import (
    AnyStep,
    Close,
    DeleteTopic,
    Kv,
    Reconnect,
    Register,
    RegisterTopic,
    Request,
    Restart,
    Route,
    Time,
)

__all__ = ["Pair", "Picture", "usual"]

Pair = tuple[int, str, str, str | None]
"""Server, namespace, key, topic whose name is the key."""

_OTHERS = {"serverCallbackExecutorThreads": "0", "productEnvName": "center"}
_ON = frozenset({"returnOrderTopicConfigToBroker", "enableAllTopicList", "enableTopicList"})


def usual(setting: str) -> str:
    """What a setting is as a rule."""
    return _OTHERS.get(setting, "true" if setting in _ON else "false")


class Picture:
    """What a program should have brought about so far."""

    def __init__(self, *, five: bool, servers: int = 1) -> None:
        self.five = five
        self.models = [Model(five=five) for _ in range(servers)]
        self.pairs: dict[Pair, None] = {}
        """KV pairs that were put and not deleted."""
        self.spaces: dict[tuple[int, str], None] = {}
        """Server and KV namespace that were written to."""
        self.topics: dict[tuple[int, str], None] = {}
        """Server and topic that were ever named."""
        self.brokers: dict[tuple[int, str], None] = {}
        """Server and broker name that were ever registered."""
        self.clusters: dict[tuple[int, str], None] = {}
        self.addresses: dict[tuple[int, str, str, str], None] = {}
        """Server, cluster, broker and address that were ever registered."""
        self.replaced: dict[tuple[int, str], None] = {}
        """Old connections that are still open beside the new ones: server and symbol."""

    @property
    def servers(self) -> int:
        """How many there are."""
        return len(self.models)

    def apply(self, step: AnyStep) -> None:
        """Carries a step out."""
        if isinstance(step, Time):
            for model in self.models:
                model.apply(step)
            return
        model = self.models[step.server]
        match step:
            case Reconnect():
                self._reconnect(model, step)
            case Restart():
                self.models[step.server] = Model(five=self.five)
                self.models[step.server].settings = model.settings
            case Close():
                self.replaced.pop((step.server, step.conn), None)
                model.apply(step)
            case Request() if step.broken is not None:
                if isinstance(step, Kv):
                    self._note(step)  # if all of it was sent it may have been carried out
                model.apply(Close(server=step.server, conn=step.conn))
            case _:
                self._note(step)
                model.apply(step)

    def settings(self) -> list[tuple[int, str]]:
        """Toggles that are not as they are as a rule, with their servers."""
        return [
            (server, key)
            for server, model in enumerate(self.models)
            for key, value in model.settings.items()
            if value != usual(key)
        ]

    def _note(self, step: AnyStep) -> None:
        match step:
            case Register():
                self.topics.update(((step.server, topic), None) for topic in step.topics)
                self.brokers[step.server, step.broker] = None
                self.clusters[step.server, step.cluster] = None
                self.addresses[step.server, step.cluster, step.broker, step.address] = None
            case RegisterTopic() | DeleteTopic() | Route():
                self.topics[step.server, step.topic] = None
            case Kv() if step.code == 100:
                self.pairs[step.server, step.namespace, step.key, step.topic] = None
                self.spaces[step.server, step.namespace] = None
            case Kv() if step.code == 102 and step.broken is None:
                self.pairs.pop((step.server, step.namespace, step.key, step.topic), None)

    def _reconnect(self, model: Model, step: Reconnect) -> None:
        if step.old != step.conn:
            model.apply(Close(server=step.server, conn=step.old))
            self.replaced[step.server, step.old] = None
        for lease in model.on(step.conn):
            lease.conn = step.old
