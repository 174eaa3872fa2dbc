"""From a divergence that nothing explains to an example of a cause, which is recognised from then on.

It is confirmed and minimised as every failure is. What is left of the program says what was special. Whether
the targets hold different states behind it is asked of them. Where both are of Apache's release lines, the
reference of both lines is asked, too: what it shows as well is a difference between the releases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from harness.engine.peer.causes import Example, History, KnownCauses, Seen, cause_of
from harness.engine.peer.exchange import exchange_of
from harness.engine.peer.experiment import PeerExperiment
from harness.engine.peer.special import Kind
from harness.findings.experiment import Attempt, Experiment, Finding, Flaky, Signature, signature_of
from harness.findings.folder import State, name_of
from harness.findings.store import FindingStore
from harness.findings.triage import Budget, triage
from harness.program.nameserver import steps as ns
from harness.program.step import Time
from harness.program.steps import AnyStep
from harness.spec import Violation
from harness.spec.observation import DEATH

FOLDERS = 200
"""Findings that are written down in all …"""
_OF_A_CAUSE = 2
"""… and of each cause."""
_THOROUGH = 40
"""Causes that are minimised as far as possible; later ones get a smaller budget."""
_SECONDS, _SECONDS_WITH_TIME = 12.0, 60.0
"""How long it may take to make a program small: one that lets time pass takes longer."""
_CARRYING = ("json", "compressed", "compressed-5", "bare")
RELEASES = "a difference between the releases"
"""What explains an example that the reference of both lines shows as well."""
_TOPICS = ("T0", "T1")
_ORDINARY: ns.Queues = (8, 8, 6, 0)


class _Held(FindingStore):
    """Keeps what triage knows in memory, until it is known whether it is worth a folder."""

    def __init__(self, store: FindingStore) -> None:
        super().__init__(None)
        self._store = store
        self.last: tuple[State, Finding | Flaky, tuple[Attempt, ...]] | None = None

    def given_up(self, signature: Signature) -> int:
        return self._store.given_up(signature)

    def again(self, finding: Finding) -> None:
        self._store.again(finding)

    def keep(
        self, state: State, found: Finding | Flaky, experiment: Experiment, attempts: tuple[Attempt, ...]
    ) -> None:
        self.last = (state, found, attempts)


class Learner:
    """Looks into divergences. ``releases`` plays on the reference of both lines, where there are two;
    ``folders`` is how many findings of each cause have been written before.
    """

    def __init__(
        self,
        experiment: PeerExperiment,
        store: FindingStore,
        *,
        now: Callable[[], float],
        attempts: int,
        releases: PeerExperiment | None = None,
    ) -> None:
        self._experiment = experiment
        self._store = store
        self._now = now
        self._attempts = attempts
        self._releases = releases
        self._folders = Counter(one.cause for one in experiment.causes.examples if one.finding)

    def look_into(self, program: Sequence[AnyStep], attempt: Attempt) -> Example | Finding | None:
        """What becomes of an attempt that nothing explains: an example, which is known from then on; the
        finding, where it is a death; None, where it did not show again.
        """
        known = self._experiment.causes
        thorough = len(known.examples) < _THOROUGH
        budget = Budget(
            now=self._now,
            attempts=self._attempts if thorough else self._attempts // 3,
            seconds=self._seconds(program),
            needed=1,
            tries=2,
        )
        held = _Held(self._store)
        try:
            found = triage(self._experiment, program, attempt, held, budget)
        except BaseException:
            self._write(held)
            raise
        if not isinstance(found, Finding) or held.last is None:
            self._write(held)
            return None
        divergence = self._experiment.divergences.get(found.violation)
        if divergence is None:
            self._write(held)
            return found if found.violation.invariant == DEATH else None
        seen = next(
            (one for one in divergence.news if found.violation.anomaly == self._experiment.anomaly(one)),
            divergence.news[0],
        )
        explained = self._release_difference(found)
        decisive, before = self._kinds(found, divergence.index)
        example = Example(
            cause=self._cause(seen, before, decisive, settling=divergence.settling),
            seen=(seen, *(one for one in divergence.news if one != seen)),
            before=before,
            decisive=decisive,
            taints=False,
            exchange=exchange_of(found.program, held.last[2][0], divergence, seen),
            explained=explained,
            confirmed=str(found.confirmed),
        )
        example = msgspec.structs.replace(
            example,
            taints=divergence.settling or self._is_apart(found.program, example),
            finding=self._folder(example, found, held),
        )
        known.add(example)
        return example

    def _seconds(self, program: Sequence[AnyStep]) -> float:
        """How long it may take; attempts that wait for nothing are only counted."""
        if self._experiment.is_virtual:
            return float("inf")
        return _SECONDS_WITH_TIME if any(isinstance(step, Time) for step in program) else _SECONDS

    def _folder(self, example: Example, found: Finding, held: _Held) -> str:
        """The name of the folder that a finding gets, or none."""
        if example.explained or self._folders[example.cause] >= _OF_A_CAUSE:
            return ""
        if self._folders.total() >= FOLDERS:
            return ""
        self._folders[example.cause] += 1
        self._write(held)
        return name_of(found.signature) if found.directory is not None else ""

    def _write(self, held: _Held) -> None:
        if held.last is not None:
            state, found, attempts = held.last
            self._store.keep(state, found, self._experiment, attempts)

    # --- what is known of it --------------------------------------------------------------------------------

    def _kinds(self, found: Finding, index: int) -> tuple[Kind, tuple[Kind, ...]]:
        """The decisive step, and those before it that change something. What topics are like, or that there
        are none, is special only where it does not show with ordinary ones, too.
        """
        program = found.program
        ordinary = tuple(map(_with_ordinary_topics, program))
        if ordinary != program and self._shows(ordinary, found):
            program = ordinary
        kinds = [past.kind for past in History(program, self._experiment.profile).until(index)]
        return kinds[-1], tuple(kind for kind in kinds[:-1] if not kind.is_question)

    def _cause(self, seen: Seen, before: Sequence[Kind], decisive: Kind, *, settling: bool) -> str:
        """As it is called already, where the answer to the step itself was the first that was seen of it."""
        name = cause_of(seen, before, decisive, settling=settling)
        for one in self._experiment.causes.examples:
            if one.taints and name == f"after {one.decisive}":
                return one.cause
        return name

    def _is_apart(self, program: tuple[AnyStep, ...], example: Example) -> bool:
        """Whether the targets hold different states from then on: later answers show it."""
        if example.decisive.is_question:
            return example.cause.startswith("after ")
        known = self._experiment.causes
        self._experiment.causes = KnownCauses([*known.examples, example])
        try:
            seen = self._experiment.compare([*program, *_looks(program)]).divergences
        finally:
            self._experiment.causes = known
        return any(one.index >= len(program) and not one.is_explained for one in seen)

    def _shows(self, program: Sequence[AnyStep], found: Finding) -> bool:
        attempt = self._experiment.attempt(program, fresh=False)
        return any(signature_of(program, one) == found.signature for one in attempt.violations)

    def _release_difference(self, found: Finding) -> str:
        """What explains a finding, where the reference of the two lines shows it as well."""
        if self._releases is None or not self._is_shown_by(self._releases, found.program, found.violation):
            return ""
        return RELEASES

    def _is_shown_by(
        self, experiment: PeerExperiment, program: Sequence[AnyStep], violation: Violation
    ) -> bool:
        experiment.causes = self._experiment.causes
        shown = experiment.attempt(program, fresh=True).violations
        return any((one.invariant, one.anomaly) == (violation.invariant, violation.anomaly) for one in shown)


def _with_ordinary_topics(step: AnyStep) -> AnyStep:
    if not isinstance(step, ns.Register) or step.form not in _CARRYING:
        return step
    names = {*step.topics, *_TOPICS} if len(step.topics) < len(_TOPICS) else step.topics
    return msgspec.structs.replace(step, topics=dict.fromkeys(sorted(names), _ORDINARY))


def _looks(program: Sequence[AnyStep]) -> list[AnyStep]:
    """Questions about all that a program may have changed."""
    looks: list[AnyStep] = [ns.ClusterInfo(), ns.Topics()]
    for step in program:
        match step:
            case ns.Register():
                looks.append(
                    ns.QueryVersion(
                        cluster=step.cluster, broker=step.broker, address=step.address, counter=-1
                    )
                )
                looks += [ns.Route(topic=topic) for topic in step.topics]
            case ns.Kv():
                looks.append(ns.Kv(code=101, namespace=step.namespace, key=step.key, topic=step.topic))
                looks.append(ns.Kv(code=219, namespace=step.namespace))
            case ns.RegisterTopic() | ns.DeleteTopic():
                looks.append(ns.Route(topic=step.topic))
            case ns.Configure():
                looks.append(ns.Configuration())
    return looks
