"""What the route table remembers and what it gets. Plain values; every rule is in `routes.py`."""

import msgspec

from harness.wire.bodies import DataVersion, TopicConfig, TopicQueueMappingInfo

LiveKey = tuple[str, str | None]
"""(cluster, address) in 5.3, ("", address) in 4.9: what a live record is found by. None finds none."""


class Queue(msgspec.Struct, frozen=True, gc=False):
    """The queues of one topic on one broker name. Never changed in place: a new value replaces it."""

    read: int
    write: int
    perm: int
    flag: int


class Broker(msgspec.Struct):
    """One broker name: a master and its slaves."""

    cluster: str
    """That of the first registration of the name; later ones do not change it."""
    name: str
    addresses: dict[int, str]
    acting_master: bool = False
    zone: str | None = None


class LiveRecord(msgspec.Struct):
    """The lease of one address."""

    cluster: str
    address: str
    refreshed: int
    """When the broker was last heard of, ms."""
    lease: int
    """How long that counts, ms."""
    version: DataVersion
    connection: int
    """The connection of the latest registration."""
    ha_address: str | None
    topics: dict[str, TopicConfig] = {}
    """The payload of the latest registration; the next one is often the same object."""
    broker: str = ""
    """The name that it was for: an address may register under several."""
    settled: int = -1
    """The revision of the table when it showed all of that payload; -1 if it did not."""


class Registration(msgspec.Struct):
    """A complete, well-formed registration (code 103)."""

    cluster: str
    broker: str
    address: str
    id: int
    version: DataVersion
    topics: dict[str, TopicConfig]
    """By topic name."""
    ha_address: str | None = None
    filter_servers: list[str | None] | None = None
    """None keeps what the server has, an empty list clears it."""
    mappings: list[tuple[str, str, TopicQueueMappingInfo]] = []
    """(topic, broker name, mapping) of static topics, 5.3."""
    lease: int | None = None
    """`heartbeatTimeoutMillis`, 5.3."""
    acting_master: bool | None = None
    """`enableActingMaster`; None: absent, "an old broker". 5.3."""
    zone: str | None = None
    """`__ZONE_NAME`, 5.3."""


class Registered(msgspec.Struct, frozen=True):
    """The answer to the registrant."""

    master: str | None = None
    ha_address: str | None = None


class Departure(msgspec.Struct, frozen=True):
    """An address that is to leave."""

    cluster: str
    address: str
    brokers: tuple[str, ...]
    """The names that it leaves; none: only its live record goes."""
    id: int | None = None
    """The id of the request; None for a lost connection or an ended lease, which know the address only."""
    connection: int | None = None
    """Set for a lost connection: a broker that has since registered over another one stays."""


class NewMinimum(msgspec.Struct, frozen=True):
    """The smallest id of a broker name is another one, and these addresses are to be told (code 905)."""

    id: int
    address: str
    """Of that id."""
    left: str | None
    """The address that had the smallest id and has left; None where a smaller one has come."""
    ha_address: str | None
    """Of the one that has come."""
    recipients: tuple[str, ...]
