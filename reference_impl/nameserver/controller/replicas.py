"""The sets of Brokers that share a name: who belongs to each, who is the master, who is in sync with it.

1. Pure state. What a request must fulfil is asked in `core.py`; here is what it then changes.
2. An id is given once: those that were taken away are not given again while the set exists.
3. The epoch of the master grows with every election, also with one that finds none; that of the in-sync set
   with every change of it.
4. `unwritten` says whether something has changed since the caller last took `dump()` to be written.

Source: ReplicasInfoManager, BrokerReplicaInfo, SyncStateInfo of rocketmq-all-5.3.3. (Apache keeps the events
in a log of DLedger; here the state is kept.)
"""

import msgspec

FIRST_ID = 1
"""The id of the first Broker of a set; 0 is what the master registers with at NameServers
(`MixAll#FIRST_BROKER_CONTROLLER_ID`).
"""


class StoredReplicasError(ValueError):
    """Stored replicas that cannot be read; the text says what was found and what was expected."""


class Replica(msgspec.Struct):
    """One Broker of a set."""

    address: str
    check_code: str
    """What it applied for its id with: address and time, so that only the same start gets the id again."""


class BrokerSet(msgspec.Struct):
    """The Brokers of one name."""

    cluster: str | None
    """That of the first Broker of the name."""
    name: str
    next_id: int = FIRST_ID
    replicas: dict[int, Replica] = {}
    master: int | None = None
    master_epoch: int = 0
    in_sync: list[int] = []
    """Ids, sorted."""
    epoch: int = 0
    """Of `in_sync`."""

    def address_of(self, number: int | None) -> str | None:
        """Where a replica is; None for an unknown one."""
        replica = None if number is None else self.replicas.get(number)
        return None if replica is None else replica.address

    @property
    def was_never_led(self) -> bool:
        """Whether there has been no election yet."""
        return self.master_epoch == 0


class Replicas:
    """All sets, by name."""

    def __init__(self) -> None:
        self.sets: dict[str, BrokerSet] = {}
        self.unwritten = False

    def get(self, name: str) -> BrokerSet | None:
        """The set of a name."""
        return self.sets.get(name)

    def add(self, cluster: str | None, name: str, number: int, replica: Replica) -> None:
        """A Broker has been given an id; the first of its name makes the set."""
        found = self.sets.setdefault(name, BrokerSet(cluster, name))
        if number not in found.replicas:
            found.replicas[number] = replica
            found.next_id += 1
        self.unwritten = True

    def move(self, found: BrokerSet, number: int, address: str) -> None:
        """A Broker has another address than before."""
        found.replicas[number].address = address
        self.unwritten = True

    def lead(self, found: BrokerSet, number: int) -> None:
        """A replica becomes the master, and alone is in sync."""
        found.master = number
        found.master_epoch += 1
        self.sync(found, [number])

    def lose_master(self, found: BrokerSet) -> None:
        """The set has no master; who was in sync remains so."""
        found.master = None
        found.master_epoch += 1
        self.unwritten = True

    def sync(self, found: BrokerSet, numbers: list[int]) -> None:
        """These replicas are in sync."""
        found.in_sync = sorted(set(numbers))
        found.epoch += 1
        self.unwritten = True

    def remove(self, found: BrokerSet, numbers: set[int]) -> None:
        """These replicas are forgotten; with the last of them, or where none is named, the whole set."""
        for number in numbers:
            found.replicas.pop(number, None)
        found.in_sync = [number for number in found.in_sync if number not in numbers]
        if not numbers or not found.replicas:
            del self.sets[found.name]
        self.unwritten = True

    def dump(self) -> bytes:
        """Everything, as it is stored."""
        return msgspec.json.encode(self.sets)

    def load(self, stored: bytes | None) -> None:
        """Take over what was stored. Raises StoredReplicasError."""
        if stored is not None:
            try:
                self.sets = msgspec.json.decode(stored, type=dict[str, BrokerSet])
            except msgspec.DecodeError as error:
                raise StoredReplicasError(str(error)) from error
