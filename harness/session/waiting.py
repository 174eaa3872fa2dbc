"""How the connections of a session wait: for answers, for a close, for silence.

- Silence is decided by a probe on the same connection that is answered, and a grace after that. Where the
  connection is in the middle of a frame the probe goes over another one.
- While bytes of a frame keep arriving it is not late, up to ``Timing.longest``. When they stop before its
  end, it is no frame.
- What was waited for in vain before (``futile``) is not waited for in full again: the probe goes out at once.
- A connection that has been quiet for ``timing.busy`` protocol seconds is given a keep-alive, whenever the
  session waits. Sessions that are used together keep each other's connections busy.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.catalogue import Profile
from harness.session.clock import Clock
from harness.session.exchange import SentRequest
from harness.session.futile import REST, FutileWaits, code_of_wait, kind_of_wait
from harness.session.link import Link, PendingResponse
from harness.session.outcome import Outcome, Silent, Stalled
from harness.trace import Purpose
from harness.wire import Command, encode


class Waits:
    """What the connections of one session wait for. Used by one thread at a time.

    ``probe()`` makes a cheap request that every target answers; ``connect()`` makes a connection, which
    ``add`` is given; ``checked(doing)`` raises where the time of the
    case is over; ``beside`` are the waits of a session that is used together with this one.
    """

    def __init__(
        self,
        clock: Clock,
        profile: Profile,
        *,
        probe: Callable[[], Command],
        connect: Callable[[], Link],
        checked: Callable[[str], None],
        futile: FutileWaits,
        beside: Waits | None = None,
    ) -> None:
        self.links: list[Link] = []
        self._clock = clock
        self._profile = profile
        self._probe = probe
        self._connect = connect
        self._checked = checked
        self._futile = futile
        self.together: list[Waits] = [self] if beside is None else beside.together
        if beside is not None:
            self.together.append(self)
        self._control: Link | None = None
        self._quiet_since = 0.0
        """No connection has been quiet for longer than since then, in protocol time."""
        self._unanswered: list[tuple[str, int | None, Link, PendingResponse]] = []

    def add(self, link: Link) -> None:
        """A connection of the session."""
        self.links.append(link)

    def decide(self, asked: SentRequest, subject: str, silence_is_an_answer: bool) -> Outcome:
        """Waits until it is clear what became of a request."""
        if asked.want is not None and asked.want.result is not None:
            return asked.want.result
        link, want, began = asked.link, asked.want, self._clock.waiting()
        assert link is not None
        kind = kind_of_wait(asked, link) if self._clock.warp else ""
        code = code_of_wait(asked, link)

        def decided() -> bool:
            return not link.is_open or (want is not None and want.result is not None)

        is_brief = bool(kind) and not silence_is_an_answer and self._futile.is_known(kind, code)
        if not is_brief and (not silence_is_an_answer or want is None):
            self._wait_for_answer(link, want, decided, subject)
        answered = True
        if not decided():
            answered = self._probed(link, want, decided, subject, silence_is_an_answer, is_brief)
        if decided():
            if kind:
                self._futile.was_met(kind, code if link.is_open else None)
            return _outcome(link, want)
        link.give_up(want)
        if kind and answered and not silence_is_an_answer:
            self._note(kind, code, link, want, is_brief)
        return (Silent if answered else Stalled)(
            connection=link.number,
            at=self._clock.now(),
            unexpected=link.strays,
            leftover=link.leftover,
            waited=self._clock.waiting() - began,
        )

    def _wait_for_answer(
        self, link: Link, want: PendingResponse | None, decided: Callable[[], bool], subject: str
    ) -> None:
        """A full wait. A frame that has begun by its end, and is not whole, is broken off: what a probe would
        bring is no part of it.
        """
        timing, is_quiet = self._clock.timing, want is None
        is_known = bool(self._clock.warp) and self._futile.is_known(REST)
        if is_known:
            self.wait(link, decided, timing.brief, subject, quiet=is_quiet)
        if not (is_known and link.has_begun_frame):
            self.wait(link, decided, timing.answer, subject, quiet=is_quiet)
        if not decided() and want is not None and link.has_begun_frame:
            self._futile.was_in_vain(REST)
            link.break_off()

    def is_answered(self) -> bool:
        """Whether the target answers a probe."""
        link = self.control()
        want = self._send_probe(link, "probe")
        self.wait(link, lambda: _settled(link, want), self._clock.timing.answer, "probe")
        return want.result is not None

    def control(self) -> Link:
        """A connection for the harness's own requests."""
        if self._control is not None:
            self._control.notice()
        if self._control is None or not self._control.takes_frames:
            self._control = self._connect()
        return self._control

    def keep_busy(self, quiet: Link | None = None) -> None:
        """A keep-alive on every connection of all sessions that are used together which has been quiet for
        long, except ``quiet`` and the idle ones.
        """
        for waits in self.together:
            waits._keep_own_busy(quiet)

    def look_back(self) -> None:
        """Takes answers that came too late for the case: their codes are answered all the same."""
        for kind, code, link, want in self._unanswered:
            link.notice()
            if want.result is not None:
                self._futile.was_met(kind, code)
        self._unanswered.clear()

    def wait(
        self, link: Link, met: Callable[[], bool], seconds: float, subject: str, *, quiet: bool = False
    ) -> None:
        """Takes what comes on ``link`` until ``met`` or for these waiting seconds, keeping the others
        busy.
        """
        self._wait([link], met, seconds, subject, quiet=quiet)

    def _wait(
        self, links: list[Link], met: Callable[[], bool], seconds: float, subject: str, *, quiet: bool = False
    ) -> None:
        clock, link = self._clock, links[0]
        if clock.warp and (quiet or not link.takes_frames):
            # It cannot be kept busy: beyond this its idle timer would end it, and prove nothing.
            seconds = min(seconds, self._profile.surely_open / clock.warp)
        began = clock.waiting()
        end = began + seconds
        slice_ = clock.timing.busy / 3 / clock.warp if clock.warp else seconds
        while not met():
            self._checked(f"waiting for {subject}")
            self.keep_busy(link if quiet else None)
            left = round(end - clock.waiting(), 6)  # less than that no clock can pass
            progress = link.pump(max(0.0, min(left, slice_)))
            for other in links[1:]:
                progress = other.pump(0) or progress
            if progress and any(one.has_begun_frame for one in links):  # on its way
                end = max(end, min(clock.waiting() + seconds, began + clock.timing.longest))
            if not progress and left <= 0:
                return

    def _probed(
        self,
        link: Link,
        want: PendingResponse | None,
        decided: Callable[[], bool],
        subject: str,
        silence_is_an_answer: bool,
        is_brief: bool,
    ) -> bool:
        """Asks something that is surely answered, behind what ``link`` has been asked where that is possible,
        and waits for a grace after that. Returns whether it was answered.
        """
        timing = self._clock.timing
        # (brief) What is to close, perhaps because it is idle, is left alone.
        own = link.takes_frames and not (is_brief and want is None)
        over = link if own else self.control()
        probe = self._send_probe(over, "probe")
        patience = timing.answer if silence_is_an_answer or is_brief else timing.probe
        links = [over] if over is link else [over, link]
        self._wait(links, lambda: decided() or _settled(over, probe), patience, subject)
        self.wait(link, decided, timing.brief if is_brief else timing.grace, subject, quiet=not own)
        return probe.result is not None

    def _note(
        self, kind: str, code: int | None, link: Link, want: PendingResponse | None, is_brief: bool
    ) -> None:
        if not is_brief:
            self._futile.was_in_vain(kind, code)
        if want is not None:
            self._unanswered.append((kind, code, link, want))

    def _send_probe(self, link: Link, purpose: Purpose) -> PendingResponse:
        request = self._probe()
        want = link.want(request.opaque, purpose)
        link.send(encode(request), purpose)
        return want

    def _keep_own_busy(self, quiet: Link | None) -> None:
        due = self._clock.now() - self._clock.timing.busy
        if self._quiet_since > due:
            return
        pending = [
            (link, self._send_probe(link, "keep-alive"))
            for link in self.links
            if link.last_sent <= due and link is not quiet and not link.idle and link.takes_frames
        ]
        self._quiet_since = min(
            (one.last_sent for one in self.links if one.is_open and not one.idle),
            default=self._clock.now(),
        )
        end = self._clock.waiting() + self._clock.timing.probe
        for link, want in pending:
            while not _settled(link, want) and (left := end - self._clock.waiting()) > 0:
                if not link.pump(left):
                    break


def _settled(link: Link, want: PendingResponse) -> bool:
    return want.result is not None or not link.is_open


def _outcome(link: Link, want: PendingResponse | None) -> Outcome:
    """What a request has come to: its answer, or the end of its connection."""
    if want is not None and want.result is not None:
        return want.result
    ending = link.ending()
    assert ending is not None
    return ending
