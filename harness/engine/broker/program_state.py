"""What should exist on a Broker while a program is being made: rules choose their arguments by it.

It steers, judges nothing, and sees no answer: the same steps give the same state on
every target. Where it is wrong a program is duller than it could be.
"""

from __future__ import annotations

from harness.catalogue import Feature, profile_named
from harness.program.broker import steps as bk
from harness.program.broker.optional_steps import Allow, Allowing, Hide, Pop, Recall
from harness.program.broker.static_steps import MapTopic
from harness.program.step import Request, Restart, Time
from harness.program.steps import AnyStep
from harness.spec.broker.hidden import REVIVAL
from harness.spec.broker.ledger import DELAYS

_BY_A_SEND = 4
"""Queues of a topic that a send brings into being."""


class ProgramState:
    """What a program should have brought about so far."""

    def __init__(self, profile: str) -> None:
        self.profile = profile
        self._line = profile_named(profile)
        self.servers = 1
        self.now = 0
        """Seconds that steps have let pass."""
        self.topics: dict[str, int] = {}
        """Queues of each topic that exists."""
        self.static: dict[str, MapTopic] = {}
        """Static topics that exist, with their mappings."""
        self.dropped: set[str] = set()
        """Topics that were deleted, of which little can be said afterwards."""
        self.messages: dict[str, bk.Send] = {}
        """All that were ever sent."""
        self._fresh = 0
        """The number of the first symbol that no message has. What was left out of a rule leaves gaps."""
        self.stored: dict[tuple[str, int], int] = {}
        """How many messages a queue has, about."""
        self.verdicts: dict[str, list[int]] = {}
        """Half messages, and how often they were ended."""
        self.due: list[int] = []
        """When delays are over."""
        self.beats: dict[str, bk.Beat] = {}
        """Clients that should be members of their groups."""
        self.offsets: dict[tuple[str, str, int], int] = {}
        """What was committed last, by group, topic and queue."""
        self.returned: dict[str, int] = {}
        """Groups to which messages were sent back, and how many."""
        self.dead: set[str] = set()
        self.locks: dict[tuple[str, str], str] = {}
        """By group and topic, the client that has locked queues."""
        self.restarts = 0
        self.is_slave = False
        self.is_unforced = False
        """Whether it ever was told to ask its NameServers before it registers."""
        self.allowed: dict[Allowing, bool] = {}
        """What the Broker was told to allow or not to allow, since it was started."""
        self.told: set[Allowing] = set()
        """What it ever was told about."""
        self.recalled: set[str] = set()
        """Messages that were taken back, or were to be."""
        self.pops = 0
        """How many pops there were."""
        self.popped: list[tuple[str, int]] = []
        """Groups that were given messages, and from when on these come again."""
        self.switched = False
        """Whether it ever was one, which it may be until a change of role."""

    def has(self, feature: Feature) -> bool:
        """Whether the Broker's line has a feature."""
        return self._line.has(feature)

    @property
    def waiting(self) -> list[int]:
        """Seconds until each delay is over that is not over yet."""
        return sorted(due - self.now for due in self.due if due > self.now)

    def symbol(self, ahead: int = 0) -> str:
        """A message that does not exist yet."""
        return f"m{self._fresh + ahead}"

    def comes_again(self, group: str) -> bool:
        """Whether messages should have come again for a group."""
        return any(one == group and due <= self.now for one, due in self.popped)

    def queues(self) -> list[tuple[str, int]]:
        """All queues of all topics."""
        return [(topic, queue) for topic, count in self.topics.items() for queue in range(count)]

    def apply(self, step: AnyStep) -> None:
        """Carries a step out."""
        if isinstance(step, Request) and step.broken is not None and step.broken < 100:
            return
        match step:
            case Time():
                self.now += step.seconds
            case bk.Force():
                self.is_unforced = self.is_unforced or not step.force
            case Allow():
                self.allowed[step.what] = step.allowed
                self.told.add(step.what)
            case Recall():
                self.recalled.add(step.message)
            case Pop():
                self.pops += 1
                self.popped.append((step.group, self.now + step.hidden + REVIVAL))
            case Hide():
                self.popped.append((step.group, self.now + step.hidden + REVIVAL))
            case bk.Switch():
                self.is_slave = step.role == "slave"
                self.switched = True
            case bk.Send() if self.is_slave:
                self._note_messages(step)
            case bk.End() | bk.Back() if self.is_slave:
                pass
            case bk.MakeTopic() | bk.DropTopic() if self.is_slave and not self.has("busy-slaves"):
                pass
            case Restart():
                self.restarts += 1
                self.allowed.clear()
                self.beats.clear()
                self.locks.clear()
            case bk.MakeTopic():
                self.topics[step.topic] = step.queues
            case MapTopic():
                known = self.static.get(step.topic)
                if known is None or step.epoch > known.epoch:
                    self.static[step.topic] = step
            case bk.DropTopic():
                self.topics.pop(step.topic, None)
                self.static.pop(step.topic, None)
                self.dropped.add(step.topic)
                self.stored = {key: count for key, count in self.stored.items() if key[0] != step.topic}
            case bk.Send() if step.topic in self.static:
                self._note_messages(step)
                key = step.topic, step.queue
                self.stored[key] = self.stored.get(key, 0) + len(step.messages)
            case bk.Send():
                self._sent(step)
            case bk.End():
                self._ended(step)
            case bk.Back():
                self._sent_back(step)
            case _:
                self._of_groups(step)

    def facts(self) -> object:
        """What exists, by symbols: topics and how full their queues are, how half messages ended, who is in
        which group, which offsets are committed, what is locked, what the Broker is and allows. It leaves
        out times, and counts none, one or some: with numbers hardly two states would be equal.
        """
        return (
            sorted(self.topics.items()),
            sorted((*key, _some(count)) for key, count in self.stored.items()),
            sorted({tuple(verdicts) for verdicts in self.verdicts.values()}),
            _some(len(self.waiting)),
            sorted((one.client, one.groups, one.topics, one.producers) for one in self.beats.values()),
            sorted(self.offsets),
            sorted((group, _some(count)) for group, count in self.returned.items()),
            sorted(self.dead),
            sorted((*key, client) for key, client in self.locks.items()),
            sorted(self.allowed.items()),
            sorted((one.topic, one.queues, one.goes_on, one.gone) for one in self.static.values()),
            (_some(len(self.recalled)), _some(self.pops), self.is_slave, self.switched, self.is_unforced),
        )

    def _note_messages(self, step: bk.Send) -> None:
        self.messages.update(dict.fromkeys(step.messages, step))
        self.note_symbols(step)

    def note_symbols(self, step: bk.Send) -> None:
        """The symbols of its messages are not used again."""
        self._fresh = max(self._fresh, *(int(symbol[1:]) + 1 for symbol in step.messages))

    def _sent(self, step: bk.Send) -> None:
        self._note_messages(step)
        queues = self.topics.setdefault(step.topic, _BY_A_SEND)
        if step.queue >= queues:
            return
        if step.half:
            self.verdicts[step.message] = []
            return
        key = step.topic, max(0, step.queue)
        self.stored[key] = self.stored.get(key, 0) + len(step.messages)
        if step.level:
            self.due.append(self.now + DELAYS[min(step.level, len(DELAYS)) - 1])
        elif step.after and self.has("delayed-messages"):
            self.due.append(self.now + step.after)

    def _ended(self, step: bk.End) -> None:
        verdicts = self.verdicts.get(step.message)
        if verdicts is None:
            return
        send = self.messages[step.message]
        if step.group != send.group or not step.verdict:
            return
        if not verdicts and step.verdict == 8:
            key = send.topic, send.queue
            self.stored[key] = self.stored.get(key, 0) + 1
        verdicts.append(step.verdict)

    def _sent_back(self, step: bk.Back) -> None:
        if step.level < 0 or not step.most:
            self.dead.add(step.group)
            return
        self.returned[step.group] = self.returned.get(step.group, 0) + 1
        self.due.append(self.now + DELAYS[(step.level or 3) - 1])

    def _of_groups(self, step: AnyStep) -> None:
        match step:
            case bk.Beat():
                self.beats[step.client] = step
            case bk.Leave():
                self.beats.pop(step.client, None)
            case bk.Commit() if step.topic in self.topics or step.topic in self.static:
                self.offsets[step.group, step.topic, step.queue] = step.offset
            case bk.Reset():
                self.offsets[step.group, step.topic, step.queue] = step.offset
            case bk.Clone():
                for (group, topic, queue), offset in list(self.offsets.items()):
                    if group == step.group and topic == step.topic:
                        self.offsets[step.to, topic, queue] = offset
            case bk.Pull() if step.commit is not None:
                self.offsets[step.group, step.topic, step.queue] = step.commit
            case bk.Lock():
                self.locks[step.group, step.topic] = step.client


def _some(count: int) -> int:
    """None, one, or several."""
    return min(count, 2)
