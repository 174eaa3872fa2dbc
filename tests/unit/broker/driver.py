"""A Broker that is asked directly: no connections, no bytes."""

from collections.abc import Mapping
from typing import Any

from harness.wire import Command
from reference_impl.broker.acl.access import AclFiles, no_files
from reference_impl.broker.config import Config
from reference_impl.broker.core import Broker
from reference_impl.broker.parts import PARTS
from reference_impl.broker.store import MemoryStorage, Storage
from reference_impl.remoting.reply import Reply

STARTED = 1_700_000_000_000


class FirstChoice:
    """Chance that always takes the first."""

    def below(self, n: int) -> int:
        return 0


class Asked:
    """A Broker and what it is asked, one request at a time."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.now = STARTED
        broker.connected(1, "10.0.0.1:40000", self.now)

    def ask(
        self, code: int, ext: Mapping[str, Any] | None = None, body: bytes = b"", **more: Any
    ) -> Reply | None:
        """The reply to a request on connection 1, or on `connection`; None: none now."""
        connection = more.pop("connection", 1)
        written = None if ext is None else {name: str(value) for name, value in ext.items()}
        reply = self.broker.execute(Command(code, ext=written, body=body, **more), connection, self.now)
        self.broker.settle(self.now)
        return reply

    def pass_time(self, ms: int) -> None:
        """Let that much time pass."""
        self.now += ms
        self.broker.tick(self.now)
        self.broker.settle(self.now)

    def taken(self, kind: type) -> list[Any]:
        """What of that kind is in the outbox; it is taken out."""
        found = [one for one in self.broker.outbox if isinstance(one, kind)]
        self.broker.outbox = [one for one in self.broker.outbox if not isinstance(one, kind)]
        return found


def make_broker(
    profile: str,
    *,
    stored: Mapping[str, bytes] | None = None,
    storage: Storage | None = None,
    started: int = STARTED,
    acl_files: AclFiles = no_files,
    **settings: Any,
) -> Asked:
    """A Broker of a line with settings under their names in Apache's files."""
    given = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in settings.items()
    }
    parts = PARTS[profile]
    config = Config.of(given, profile)
    store = parts["store"](
        storage or MemoryStorage(),
        config.of_store(),
        parts.profile.name,
        has_light_queues=parts.profile.v55 and config.has_light_topics,
    )
    broker = parts["broker"](
        parts,
        config=config,
        store=store,
        stored=stored or {},
        chance=FirstChoice(),
        started=started,
        acl_files=acl_files,
    )
    one = Asked(broker)
    one.now = started
    return one
