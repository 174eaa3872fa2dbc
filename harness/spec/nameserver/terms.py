"""What a specification knows of its server: profile, names, how late it may act, what is forgiven."""

from __future__ import annotations

from harness.catalogue import profile_named
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.step import Request
from harness.spec.nameserver import stored
from harness.spec.nameserver.answers import Forgives
from harness.spec.nameserver.state import Key, Namespace, State
from harness.spec.observation import Difference

PROMPT = 2.0
"""Protocol seconds within which a prompt effect behind an answer or a close must be there, besides jitter."""
_EARLY = 0.002
"""Protocol seconds by which an interval may seem short: targets count milliseconds."""


class Terms:
    """What is the same in every state. ``jitter``: protocol seconds by which the target may act late;
    ``fresh``: its KV namespaces are known to be empty.
    """

    def __init__(
        self,
        profile: str,
        names: Names,
        *,
        jitter: float = 0.0,
        fresh: bool = False,
        forgives: Forgives | None = None,
    ) -> None:
        self.profile = profile_named(profile)
        self.prompt = PROMPT + jitter
        self.early = _EARLY + jitter / 10
        self.names = names
        self._fresh = fresh
        self._forgives = forgives
        self._known: dict[str, str] = {}

    def start(self) -> State:
        """Nothing of ours is registered."""
        unnamed = Namespace(False, {}, complete=True) if self._fresh else Namespace()
        return State(settings=stored.usual(self.profile), unnamed=unnamed)

    @property
    def is_lenient(self) -> bool:
        """Whether the server is known to do something otherwise."""
        return self._forgives is not None

    def wrong(self, found: list[Difference], step: ns.AnyRequest) -> list[Difference]:
        """The differences that count."""
        if not found or self._forgives is None:
            return found
        return [one for one in found if not self._forgives(step, one)]

    def name(self, symbol: str) -> str:
        """The name of a broker, a cluster or a topic."""
        found = self._known.get(symbol)
        if found is None:
            found = self._known[symbol] = self.names.name(symbol)
        return found

    def address(self, symbol: str) -> str:
        """The address of a symbol."""
        key = f"@{symbol}"
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.names.address(symbol)
        return found

    def field(self, step: Request, field: str, value: str) -> str | None:
        return None if step.drop and field in step.drop else value

    def key(self, cluster: str, address: str) -> Key:
        """What the live record of an address is found by."""
        return (cluster if self.profile.has("brokers-by-cluster") else "", address)
