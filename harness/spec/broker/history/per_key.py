"""From what was observed of a Broker to the calls of each of its keys.

- A key is a queue of a topic, the end of that queue, or the offset of a group in a queue. A pull is a reading
  of the queue, and may commit an offset; that these belong to one moment is not judged.
- The end that a pull tells is only held against what pulls show: it may lag behind the end that is asked for.
- What was not answered may have been carried out at any time after it was sent, or never. So may a send that
  was refused with a code that does not say that nothing was stored.
- An answer that says nothing of a key (an error, a body that cannot be read) is no call of it.
- A key about which the specification has too little to say is not judged, and says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.program.broker import steps as bk
from harness.program.broker.frames import STORED
from harness.program.names import Names
from harness.program.step import Restart
from harness.spec.broker.history.operations import Append, End, Nothing, Restarted, Shown
from harness.spec.history.calls import Key, answer_of, began, ended, number_in, readable
from harness.spec.history.register import Get, Put
from harness.spec.linear import ENDLESS, Call, Moment
from harness.spec.observation import Observation
from harness.wire import Command, ResponseCode
from harness.wire.messages import Message, PropertyName, decode_messages

NEVER = "0"
"""What a group has committed that has committed nothing."""

_OK = ResponseCode.SUCCESS
_REFUSED = frozenset(
    (ResponseCode.TOPIC_NOT_EXIST, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, ResponseCode.NO_PERMISSION)
)
"""Codes of answers to commits that say that nothing was committed."""
_PULLED = (
    _OK,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
)

_Queue = tuple[str, int]


class Projection:
    """All keys of one Broker. ``seen`` is of it; ``term`` is how long (protocol seconds) what an answer does
    not wait for may take.
    """

    def __init__(self, seen: Sequence[Observation], names: Names, *, term: float) -> None:
        self.queues: dict[_Queue, Key] = {}
        self.ends: dict[_Queue, Key] = {}
        self.offsets: dict[tuple[str, str, int], Key] = {}
        self._names = names
        self._term = term
        self._sizes: dict[str, int] = {}
        """Queues of each topic, where that is known."""
        self._since: dict[str, Moment] = {}
        """From when on topics and groups surely exist."""
        self._unjudged: dict[str, str] = {}
        """By topic, why nothing is said about it."""
        self._killed = False
        ordered = sorted(seen, key=lambda one: one.number)
        for one in ordered:
            self._survey(one)
        for one in ordered:
            self._project(one)
        for (topic, _), key in [*self.queues.items(), *self.ends.items()]:
            key.unjudged = self._unjudged.get(topic) or self._unjudged.get("")
        for (_, topic, _), key in self.offsets.items():
            key.unjudged = self._unjudged.get(topic) or self._unjudged.get("")
            if self._killed and key.unjudged is None:
                key.unjudged = "the Broker was killed, and may have forgotten what was committed"

    # --- who is who -----------------------------------------------------------------------------------------

    def _survey(self, one: Observation) -> None:
        """What has to be known of the whole before any of it is projected."""
        step, answer = one.step, answer_of(one)
        match step:
            case bk.MakeTopic():
                if self._sizes.setdefault(step.topic, step.queues) != step.queues or step.drop:
                    self._unjudged[step.topic] = "its number of queues has changed"
            case bk.DropTopic():
                self._unjudged[step.topic] = "it was deleted"
            case bk.Send():
                if step.half or step.level or step.after or step.twice or step.drop:
                    self._unjudged[step.topic] = "a send was not a plain one"
                queues = self._may_get(step, answer)
                if not queues:
                    self._unjudged[step.topic] = "it is not known which queues a message may be in"
                for queue in queues:
                    self._queue(step.topic, queue)
            case bk.Back():
                self._unjudged[f"%RETRY%{step.group}"] = "messages were sent back"
            case bk.Pull() if not step.subscribes or step.tags or step.filter is not None:
                self._unjudged[step.topic] = "a pull did not want every message"
            case bk.Clone() | bk.Reset():
                self._unjudged[step.topic] = "offsets were set by an administrator"
            case bk.Switch():
                self._unjudged[""] = "the Broker was a slave"
            case Restart():
                self._killed |= step.how == "kill"

    def _may_get(self, step: bk.Send, answer: Command | None) -> Sequence[int]:
        """The queues that the messages of a send may be in."""
        chosen = number_in(answer, "queueId") if answer is not None and answer.code in STORED else None
        if chosen is not None:
            return (chosen,)
        return (step.queue,) if step.queue >= 0 else range(self._sizes.get(step.topic, 0))

    def _queue(self, topic: str, queue: int) -> list[Key]:
        """A queue and its ends."""
        name = f"{topic}, queue {queue}"
        return [
            self.queues.setdefault((topic, queue), Key("queue", name, [])),
            self.ends.setdefault((topic, queue), Key("end", f"the end of {name}", [])),
        ]

    def _offset(self, group: str, topic: str, queue: int) -> Key:
        name = f"the offset of {group} in {topic}, queue {queue}"
        return self.offsets.setdefault((group, topic, queue), Key("offset", name, []))

    # --- calls ----------------------------------------------------------------------------------------------

    def _project(self, one: Observation) -> None:
        step, answer = one.step, answer_of(one)
        match step:
            case bk.MakeTopic() if answer is not None and answer.code == _OK:
                self._since.setdefault(step.topic, ended(one))
            case bk.Send():
                self._send(one, step, answer)
            case bk.Pull():
                self._pull(one, step, answer)
            case bk.Bound(code=30) if answer is not None and answer.code == _OK:
                end = number_in(answer, "offset")
                if end is not None:
                    for key in self._queue(step.topic, step.queue):
                        self._add(one, key, End(end), reads=True)
            case bk.Commit():
                self._commit(one, step, answer)
            case bk.Committed() if answer is not None:
                value = number_in(answer, "offset") if answer.code == _OK else None
                if value is not None or answer.code == ResponseCode.QUERY_NOT_FOUND:
                    key = self._offset(step.group, step.topic, step.queue)
                    self._add(one, key, Get(NEVER if value is None else str(value)), reads=True)
            case Restart():
                for keys in list(self.queues):
                    for key in self._queue(*keys):
                        self._add(one, key, Restarted(one.returned + self._term))

    def _add(
        self,
        one: Observation,
        key: Key,
        action: object,
        *,
        reads: bool = False,
        end: Moment | None = None,
        required: bool = True,
    ) -> None:
        if end is None:
            end = ended(one) if required else ENDLESS
        call = Call(
            number=one.number,
            action=action,
            begin=began(one),
            end=end,
            required=required,
            reads=reads,
            session=getattr(one.step, "conn", ""),
        )
        key.calls.append(call)

    def _send(self, one: Observation, step: bk.Send, answer: Command | None) -> None:
        queues = self._may_get(step, answer)
        if answer is not None and answer.code in STORED:
            self._since.setdefault(step.topic, ended(one))
            asked = Append(
                step.messages, number_in(answer, "queueOffset"), one.returned + self._term, accepted=True
            )
        elif (
            answer is not None
            and answer.code != ResponseCode.SYSTEM_BUSY
            and step.queue >= self._sizes.get(step.topic, 1 << 16)
        ):
            asked = Append(step.messages, accepted=False)
            queues = range(self._sizes[step.topic])
        else:
            asked = Append(step.messages, accepted=None)
        for queue in queues:
            for key in self._queue(step.topic, queue):
                self._add(one, key, asked, required=asked.accepted is not None)

    def _pull(self, one: Observation, step: bk.Pull, answer: Command | None) -> None:
        if answer is not None and answer.code in _PULLED:
            self._since.setdefault(step.group, ended(one))
        if step.commit is not None and (answer is None or answer.code in _PULLED):
            key = self._offset(step.group, step.topic, step.queue)
            self._add(one, key, Put(str(step.commit)), required=answer is not None)
        if answer is None or answer.code not in _PULLED or step.offset < 0:
            return
        key = self._queue(step.topic, step.queue)[0]
        if answer.code == _OK:
            found = readable(decode_messages, answer.body)
            if found is not None:
                shown = tuple((message.queue_offset, self._symbol(message)) for message in found)
                self._add(one, key, Shown(step.offset, shown), reads=True)
        elif answer.code != ResponseCode.PULL_RETRY_IMMEDIATELY:
            beyond = answer.code == ResponseCode.PULL_OFFSET_MOVED
            self._add(one, key, Nothing(step.offset, beyond), reads=True)
        end = number_in(answer, "maxOffset")
        if end is not None:
            self._add(one, key, End(end), reads=True)

    def _commit(self, one: Observation, step: bk.Commit, answer: Command | None) -> None:
        if answer is not None and answer.code in _REFUSED:
            return
        key = self._offset(step.group, step.topic, step.queue)
        end = None
        is_done = answer is not None and answer.code == _OK
        since = max(self._since.get(what, ENDLESS) for what in (step.topic, step.group))
        if step.oneway and since < began(one):
            is_done, end = True, (one.returned + self._term, math.inf)
        self._add(one, key, Put(str(step.offset)), end=end, required=is_done)

    def _symbol(self, shown: Message) -> str:
        """The symbol of a message; what it says of itself, where it is none of ours."""
        made = self._names.made
        key, text = shown.properties.get(PropertyName.UNIQ_KEY, ""), shown.body.rstrip(b".").decode("latin-1")
        return made.get(text) or made.get(key) or text[:40]


def shown_by(calls: Sequence[Call]) -> frozenset[str]:
    """The messages that readings show."""
    shown = (call.action.messages for call in calls if isinstance(call.action, Shown))
    return frozenset(message for messages in shown for _, message in messages)
