"""The faults of a cluster: each of its servers has every rule, also one that comes back."""

from typing import Any

from reference_impl.serve.shell import Shell

from .layer import Layer
from .rule import Rule


class Layers:
    """Used in the event loop of the servers alone."""

    def __init__(self) -> None:
        self._layers: dict[str, Layer] = {}
        self._rules: list[Rule] = []

    def attach(self, server: str, shell: Shell[Any]) -> None:
        """A server has started: the rules that last begin there, too."""
        layer = self._layers[server] = Layer(server, shell)
        for rule in self._rules:
            layer.begin(rule)

    def begin(self, rule: Rule) -> None:
        """A rule begins at all servers."""
        self._rules.append(rule)
        for layer in self._layers.values():
            layer.begin(rule)

    def end(self, rule: Rule) -> None:
        """A rule ends at all servers; one that has ended stays so."""
        if rule in self._rules:
            self._rules.remove(rule)
            for layer in self._layers.values():
                layer.end(rule)

    def reset_client(self, client: str, server: str | None = None) -> int:
        """Reset the connections of a client, and return how many it had. NameServers know none."""
        return sum(layer.reset_client(client) for layer in self._layers.values() if layer.is_at(server))
