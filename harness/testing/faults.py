"""What can go wrong in a test: `rocketmq.fault`.

Each method begins a fault and returns it. The docstrings are the reference: what happens, and which mistake
of an application it finds. `docs/reference/testing-faults.md` is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Unpack

import msgspec

from harness.program.damages import AnyDamage
from harness.program.damaging import damaged
from reference_impl.serve.faults import (
    WORDS,
    Action,
    Close,
    Crowd,
    Cut,
    Damage,
    Delay,
    EmptyRoute,
    LoseReply,
    LoseRequest,
    NoMaster,
    Refuse,
    Repeat,
    Reset,
    ReversedRoute,
    Rule,
    Selector,
    StaleRoute,
    StoredBut,
    SuggestSlave,
)

from .chaos import Chaos
from .damaging import check_damages
from .fault import Fault, Host
from .selecting import Code, Where, Which, answer_code, selector

_STRANGER: Final = "0.0.0.0@stranger-{}"
"""The id of a member that is not there. It sorts before others, so that it gets the first queues."""
_MOST_MEMBERS: Final = 1_000


class Faults:
    """Begins faults of one cluster. `real_name` gives the real name of what a test names (topic or group)."""

    def __init__(self, host: Host, real_name: Callable[[str], str] = str) -> None:
        self._host = host
        self._real_name = real_name
        self._lasting: list[Fault] = []

    def end_all(self, error: BaseException | None = None) -> None:
        """End what still lasts. Raises FaultNotMetError; not where an `error` is on its way, which gets a
        note of what each fault has done.
        """
        lasting = list(self._lasting)
        for fault in lasting:
            fault.stop()
        for fault in lasting:
            fault.judge(error)

    def __str__(self) -> str:
        """What the faults that still last have done."""
        return "\n".join(map(str, self._lasting))

    # -- any request -----------------------------------------------------------------------------------------

    def refuse(
        self, answer: Code = "SYSTEM_BUSY", *, remark: str = "refused by a fault", **which: Unpack[Which]
    ) -> Fault:
        """Requests are answered with the code `answer`, and are not carried out.

        Finds: errors that are swallowed, attempts that are not repeated, and endless ones. Apache's Java
        client sends again by itself after SYSTEM_BUSY in 5.3.3, not in 4.9.8.
        """
        action = Refuse(answer_code(answer), remark)
        return self._begin("refuse", action, which, {"answer": answer})

    def lose_request(self, **which: Unpack[Which]) -> Fault:
        """Requests are lost on their way: they are neither carried out nor answered.

        Finds: waiting without a limit. With `code="commit"`: work that is not idempotent, because what was
        consumed is delivered again after a restart.
        """
        return self._begin("lose_request", LoseRequest(), which)

    def lose_reply(self, **which: Unpack[Which]) -> Fault:
        """Requests are carried out, and their answers are lost.

        Finds, with `code="send"`: a repeated send that is not recognised downstream. The message is stored
        twice, under two message ids and with the same keys.
        """
        return self._begin("lose_reply", LoseReply(), which)

    def answer_late(self, seconds: float, **which: Unpack[Which]) -> Fault:
        """Requests are carried out at once and answered `seconds` later, by the wall clock.

        Finds: time-outs that are too short or missing, and clients that take a late answer for that to
        another request.
        """
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 3600:
            raise ValueError(f"seconds={seconds!r}: expected a number above 0 and below 3600")
        return self._begin("answer_late", Delay(seconds), which, {"seconds": seconds})

    def cut_reply(self, **which: Unpack[Which]) -> Fault:
        """Requests are carried out; half of the answer's frame is sent, and the connection is closed.

        Finds: clients that take part of a frame for a whole one, or wait for the rest without a limit.
        """
        return self._begin("cut_reply", Cut(), which)

    def damage_reply(self, *damages: AnyDamage, **which: Unpack[Which]) -> Fault:
        """Requests are carried out; the answer's frame is sent with damages of `harness.program.damages`.

        Finds: clients that trust lengths, types and numbers of a frame. For authors of clients.
        """
        if not damages:
            raise ValueError("damage_reply needs one damage at least, as Cut(20) of harness.program.damages")
        check_damages(damages)
        action = Damage(lambda frame: damaged(frame, damages))
        return self._begin("damage_reply", action, which, {"damages": damages})

    def close_connection(self, **which: Unpack[Which]) -> Fault:
        """Requests are carried out and answered; then the connection is closed.

        Finds: connections that are not opened anew, and state that was bound to the old one (locks, the id
        of a client).
        """
        return self._begin("close_connection", Close(), which)

    def reset_connection(self, **which: Unpack[Which]) -> Fault:
        """Requests are carried out; the connection is reset in place of the answer.

        Finds: errors of sockets that end a thread, and requests that are lost with their connection.
        """
        return self._begin("reset_connection", Reset(), which)

    # -- messages --------------------------------------------------------------------------------------------

    def store_but(self, answer: Code = "FLUSH_DISK_TIMEOUT", **which: Unpack[Where]) -> Fault:
        """Messages are stored, and the answer says what was not done in time: FLUSH_DISK_TIMEOUT (10),
        SLAVE_NOT_AVAILABLE (11) or FLUSH_SLAVE_TIMEOUT (12).

        Finds: applications that take these for failures. The message is there and will be consumed.
        """
        code = answer_code(answer)
        return self._begin("store_but", StoredBut(code), which, {"answer": answer}, WORDS["send"])

    def deliver_twice(self, **which: Unpack[Where]) -> Fault:
        """Messages that were pulled are pulled again with the next pull of that queue. Acknowledgements of
        popped messages are answered and lost: they come again when their invisible time is over.

        Finds: consumption that is not idempotent.
        """
        return self._begin("deliver_twice", Repeat(), which, {}, WORDS["receive"] | WORDS["ack"])

    # -- groups ----------------------------------------------------------------------------------------------

    def rebalance(self, group: str, *, members: int = 1) -> Fault:
        """A consumer group has more members, which consume nothing; its real ones are notified
        (NOTIFY_CONSUMER_IDS_CHANGED) when the fault begins and when it ends, and share the queues anew.

        Finds: positions that are not committed or not asked for when queues change hands, and order that
        breaks then. Where the Broker assigns queues (QUERY_ASSIGNMENT), the members are not seen.
        """
        if not isinstance(members, int) or not 1 <= members <= _MOST_MEMBERS:
            raise ValueError(f"members={members!r}: expected a number from 1 to {_MOST_MEMBERS}")
        crowd = Crowd(self._real_name(group), [_STRANGER.format(number) for number in range(members)])
        return self._begin("rebalance", crowd, {"group": group}, {"members": members}, Crowd.codes)

    def suggest_slave(self, broker_id: int = 1, **which: Unpack[Where]) -> Fault:
        """Answers to pulls suggest the Broker of that id, which is what Apache's Brokers tell a consumer that
        is slow (with `slaveReadEnable`). There is no other notice of that kind in Apache's protocol.

        Finds: consumers that stall when they are sent to a slave, or do not return to the master.
        """
        action = SuggestSlave(broker_id)
        return self._begin("suggest_slave", action, which, {"broker_id": broker_id}, SuggestSlave.codes)

    # -- routes ----------------------------------------------------------------------------------------------

    def empty_route(self, **which: Unpack[Where]) -> Fault:
        """NameServers do not know the topic (TOPIC_NOT_EXIST).

        Finds: start-up that fails for good if the topic comes later. Java producers then ask for `TBW102`,
        the topic that new ones are made after; without `topic=` that has no route, either.
        """
        return self._begin("empty_route", EmptyRoute(), which, {}, WORDS["route"])

    def no_master(self, **which: Unpack[Where]) -> Fault:
        """Routes name no master: only slaves, or the master as its own slave.

        Finds: sends that fail at once where they should wait for the next master.
        """
        return self._begin("no_master", NoMaster(), which, {}, WORDS["route"])

    def reverse_route(self, **which: Unpack[Where]) -> Fault:
        """Brokers and queues of routes come in the reverse order.

        Finds: keys that are mapped to a place in the list of queues, in place of a queue's name and number.
        """
        return self._begin("reverse_route", ReversedRoute(), which, {}, WORDS["route"])

    def stale_route(self, **which: Unpack[Where]) -> Fault:
        """The route of `topic` stays what it is when the fault begins.

        Finds: applications that rely on new queues, or on the end of old ones, being seen at once.
        """
        if "topic" not in which:
            raise TypeError("stale_route needs topic=: the topic whose route does not change")
        action = StaleRoute(self._real_name(which["topic"]))
        return self._begin("stale_route", action, which, {}, WORDS["route"])

    # -- connections and chance ------------------------------------------------------------------------------

    def reset_client(self, client: str, *, server: str | None = None) -> int:
        """Resets the connections of a client to Brokers, now, and returns how many there were.

        Finds: what `reset_connection` finds, in a client that waits.
        """
        return self._host.call(lambda: self._host.layers.reset_client(client, server))

    def chaos(self, seed: int, *, rate: float = 0.2, servers: float = 0.0, **which: Unpack[Which]) -> Fault:
        """One request in `1/rate` meets a fault that the seed draws. The n-th send, pull, commit, … meets the
        same fault with the same seed; servers pause, too. A test that fails shows what happened.

        At one request in `1/servers` the server that got it is stopped, killed or paused. It is back after at
        most two seconds, with what it had stored; all servers are back when the fault has ended.

        Finds: what no other test was written for. With `servers`: messages that were taken for sent without
        an answer, or are handled twice when a Broker comes back.
        """
        for name, share in (("rate", rate), ("servers", servers)):
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                raise ValueError(f"{name}={share!r}: expected a number from 0 to 1")
        if not (rate or servers):
            raise ValueError("rate=0, servers=0: expected one of them above 0; nothing would happen")
        absences = self._host.departures.absences()
        given = {"seed": seed, "rate": rate} | ({"servers": servers} if servers else {})

        def ended(fault: Fault) -> None:
            self._lasting.remove(fault)
            absences.end()

        fault = self._fault("chaos", which, given, expected=0, ended=ended)
        chaos = Chaos(
            seed,
            rate,
            servers,
            self._selector(which),
            which.get("times"),
            happened=fault.happened,
            absences=absences,
        )
        return self._begun(fault, chaos)

    # -- how they begin --------------------------------------------------------------------------------------

    def _begin(
        self,
        name: str,
        action: Action,
        which: Mapping[str, Any],
        given: Mapping[str, Any] | None = None,
        codes: frozenset[int] | None = None,
    ) -> Fault:
        selected = self._selector(which if codes is None else {**which, "code": codes})
        times = which.get("times")
        fault = self._fault(name, which, given or {}, expected=1 if times is None else times)
        return self._begun(fault, Rule(action, selected, times, fault.happened))

    def _selector(self, which: Mapping[str, Any]) -> Selector:
        selected = selector(which)
        real = {
            name: self._real_name(given)
            for name in ("topic", "group")
            if (given := getattr(selected, name)) is not None
        }
        return msgspec.structs.replace(selected, **real)

    def _fault(
        self,
        name: str,
        which: Mapping[str, Any],
        given: Mapping[str, Any],
        *,
        expected: int,
        ended: Callable[[Fault], None] | None = None,
    ) -> Fault:
        shown = ", ".join(f"{key}={value!r}" for key, value in {**given, **which}.items())
        return Fault(self._host, f"{name}({shown})", expected, ended or self._lasting.remove)

    def _begun(self, fault: Fault, rule: Rule) -> Fault:
        fault.begin(rule)
        self._lasting.append(fault)
        return fault
