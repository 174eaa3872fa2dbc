"""A campaign as a Spark job: chunks of seeds go out, receipts come back; the runs are in the store by then.

Invariants:
- Run number ``seed + k`` is the same whatever is played beside it, by any number of workers, in any chunks,
  and whether or not the campaign was resumed.
- What exists (`Store.spans`) decides what is missing, and only that is played.
- A request to end early goes through the store; the worker of a chunk finishes the current run and writes
  what it has. An interrupt and ``--max-time`` lose nothing.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import msgspec
from pyspark import SparkContext

from harness.catalogue import Role, catalogue
from harness.mining.errors import MiningError
from harness.mining.schema import ALPHABETS, SCHEMA_VERSION
from harness.mining.store import Manifest, Settings, Span, Store
from harness.mining.worker import Order, Receipt, carry_out, generator_of
from harness.targets import parse
from harness.version import version

Ending = Literal["done", "time", "interrupted", "stopped"]
"""All was played; the time was over; the user ended it; a target does not start any more."""

_LOOK = 0.25
"""Real seconds between two looks at the job."""
_REPORTS = 2.0
"""Real seconds between two readings of what the workers report."""
_TASKS = 64
_GRACE = 60.0
"""Real seconds that runs under way have to come to their end, over their own deadline."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for."""

    root: str
    campaign: str
    targets: tuple[tuple[str, str], ...]
    """URIs and the profiles by which they are judged."""
    kinds: tuple[str, ...]
    seed: int
    runs: int
    """Of each kind, for each target."""
    settings: Settings
    nameserver: str = ""
    """Where running Brokers find the NameServer that the harness is."""
    max_time: float | None = None
    """Real seconds."""
    arguments: Mapping[str, Any] = {}

    def orders(self, store: Store) -> list[Order]:
        """The chunks that are to be played; targets that must be started come one after another."""
        found = [
            self.order(target, profile, span)
            for target, profile in self.targets
            for span in missing(self, store.spans(self.campaign, target))
        ]
        places = {target: place for place, (target, _) in enumerate(self.targets)}
        parsed = (parse(target, self.settings.role, self.nameserver) for target in places)
        together = {target.uri for target in parsed if target.capabilities.is_virtual}

        def order_of(one: Order) -> tuple[int, int, int]:
            place = places[one.target]
            return (-1 if one.target in together else place, one.span.first, place)

        return sorted(found, key=order_of)

    def order(self, target: str, profile: str, span: Span) -> Order:
        """One chunk."""
        return Order(
            root=self.root,
            campaign=self.campaign,
            target=target,
            profile=profile,
            span=span,
            settings=self.settings,
            nameserver=self.nameserver,
        )


def missing(plan: Plan, there: Sequence[Span]) -> list[Span]:
    """The spans of seeds that are to be played where these are there: none longer than a chunk, none over a
    multiple of it.
    """
    found = []
    for kind in plan.kinds:
        at, end = plan.seed, plan.seed + plan.runs
        gaps = []
        for span in sorted(one for one in there if one.kind == kind):
            if span.first > at:
                gaps.append((at, min(span.first, end)))
            at = max(at, span.last + 1)
        gaps.append((at, end))
        size = plan.settings.chunk
        for first, behind in gaps:
            inner = range(first + size - (first - plan.seed) % size, behind, size)
            cuts = [first, *inner, behind] if first < behind else []
            found += [Span(kind, one, other - 1) for one, other in pairwise(cuts)]
    return found


def settings_of(role: Role = "nameserver", **chosen: Any) -> Settings:
    """Settings of this harness: what is chosen, and what it is."""
    return Settings(
        schema_version=SCHEMA_VERSION,
        suite_version=version(),
        catalogue_digest=catalogue().digest,
        alphabet=ALPHABETS[role],
        role=role,
        **chosen,
    )


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a campaign, with the runs of chunks that are under way."""

    runs: int
    of_runs: int
    steps: int
    seconds: float
    outcomes: dict[str, int]
    size: int = 0
    """Bytes of whole rows."""

    @property
    def left(self) -> float | None:
        """Seconds until the end, at the rate so far; None before the first runs are reported."""
        return None if not self.runs else self.seconds / self.runs * (self.of_runs - self.runs)


class Campaign:
    """A plan being carried out. ``now`` gives seconds since some beginning; `heard` receives its progress."""

    def __init__(
        self, plan: Plan, *, now: Callable[[], float], heard: Callable[[Progress], None] = lambda _: None
    ) -> None:
        """Raises ``MiningError`` where the root is none, or where the campaign there is another one."""
        self.store = Store(plan.root)
        self.played = Progress(runs=0, of_runs=0, steps=0, seconds=0.0, outcomes={})
        """What this command has played, whatever ended it."""
        self.trouble = ""
        """Why it was stopped."""
        self.seconds = 0.0
        """Real ones, for which it has played."""
        self._plan = plan
        self._now = now
        self._heard = heard
        self._manifest = self._begun()
        self.orders = plan.orders(self.store)
        self._began = now()

    def run(self, context: SparkContext) -> Ending:
        """Plays what is missing. Raises what the job raises; what was written by then is there."""
        self._began = self._now()
        job = _Job(context, self.orders)
        ending: Ending = "done"
        job.start()
        try:
            ending = self._watch(job)
        except KeyboardInterrupt:
            ending = "interrupted"
            self._end(job)
        if job.problem is not None and ending == "done":
            raise job.problem
        self.seconds = self._now() - self._began
        self.played = self._progress()
        self._heard(self.played)
        self.note()
        self.trouble = next((one.trouble for one in job.receipts if one.trouble), "")
        return "stopped" if self.trouble and ending == "done" else ending

    def counts(self) -> dict[str, dict[str, int]]:
        """Runs by target and outcome, of all that the store has of this campaign."""
        found = {}
        for target in self.store.campaigns().get(self._plan.campaign, []):
            table = self.store.index(self._plan.campaign, target, ["outcome"])
            if table is not None:
                found[target] = dict(Counter(table["outcome"].to_pylist()))
        return found

    def note(self) -> None:
        """Writes down what there is by now."""
        self._manifest.counts = self.counts()
        self.store.note(self._manifest)

    # --- before ---------------------------------------------------------------------------------------------

    def _begun(self) -> Manifest:
        plan, store = self._plan, self.store
        before = store.manifest(plan.campaign)
        manifest = before or Manifest(campaign=plan.campaign, settings=plan.settings)
        if manifest.settings != plan.settings:
            raise MiningError(_differs(plan.campaign, manifest.settings, plan.settings), status=3)
        for target, profile in plan.targets:
            for kind in plan.kinds:
                order = plan.order(target, profile, Span(kind, 0, 0))
                made_by, key = f"{profile} {generator_of(order)}", f"{kind} {target}"
                known = manifest.generators.setdefault(key, made_by)
                if known != made_by:
                    raise MiningError(_made_otherwise(plan.campaign, key, known, made_by), status=3)
        manifest.arguments = dict(plan.arguments)
        store.begin(plan.campaign)
        store.note(manifest)
        for target, _ in plan.targets:
            store.sweep(plan.campaign, target)
        return manifest

    # --- while it goes on -----------------------------------------------------------------------------------

    def _watch(self, job: _Job) -> Ending:
        self._heard(self._progress())
        looked = self._now()
        while not job.is_over(_LOOK):
            if self._now() - looked >= _REPORTS:
                looked = self._now()
                self._heard(self._progress())
            limit = self._plan.max_time
            if limit is not None and self._now() - self._began >= limit:
                self._end(job)
                return "time"
        return "done"

    def _end(self, job: _Job) -> None:
        """Has the runs that are under way come to their end; those that do not are given up."""
        self.store.ask_to_stop(self._plan.campaign)
        until = self._now() + self._plan.settings.deadline + _GRACE
        try:
            while not job.is_over(_LOOK):
                if self._now() >= until:
                    break
        except KeyboardInterrupt:
            pass  # asked twice: what is under way is given up
        job.cancel()

    def _progress(self) -> Progress:
        tallies = self.store.reported(self._plan.campaign)
        outcomes: Counter[str] = Counter()
        for one in tallies:
            outcomes.update(one.outcomes)
        return Progress(
            runs=sum(one.runs for one in tallies),
            of_runs=sum(len(order.span) for order in self.orders),
            steps=sum(one.steps for one in tallies),
            size=sum(one.size for one in tallies),
            seconds=self._now() - self._began,
            outcomes=dict(sorted(outcomes.items())),
        )


class _Job:
    """The Spark job, in a thread of its own, so that the waiting thread can be interrupted."""

    def __init__(self, context: SparkContext, orders: Sequence[Order]) -> None:
        self.receipts: list[Receipt] = []
        self.problem: BaseException | None = None
        self._context = context
        self._orders = list(orders)
        self._over = threading.Event()  # a join that is interrupted takes its thread for ended (bpo-45274)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def is_over(self, seconds: float) -> bool:
        """Whether it is, when it was waited for so long."""
        return self._over.wait(seconds)

    def cancel(self) -> None:
        """Ends it, whatever is under way."""
        if not self._over.is_set():
            self._context.cancelAllJobs()
            self._over.wait(_GRACE)

    def _run(self) -> None:
        try:
            if self._orders:
                # Few enough tasks that those which have not begun are soon through once all is to stop.
                tasks = min(len(self._orders), max(_TASKS, 8 * self._context.defaultParallelism))
                if any(order.nameserver for order in self._orders):
                    tasks = 1  # one process alone can be the NameServer of a running Broker
                self.receipts = self._context.parallelize(self._orders, tasks).map(carry_out).collect()
        except BaseException as problem:
            self.problem = problem
        finally:
            self._over.set()


def _differs(campaign: str, there: Settings, asked: Settings) -> str:
    had, wanted = msgspec.structs.asdict(there), msgspec.structs.asdict(asked)
    parts = [
        f"  {key}: {had[key]} there, {wanted[key]} now" if key != "alphabet" else "  the letters of rules"
        for key in had
        if had[key] != wanted[key]
    ]
    return (
        f"campaign {campaign} was begun with other settings, and its runs must be of one kind:\n"
        + "\n".join(parts)
        + "\nAsk for the same, or give this campaign a name of its own (--name)"
    )


def _made_otherwise(campaign: str, which: str, known: str, made_by: str) -> str:
    return (
        f"campaign {campaign}: the programs of {which} were made by\n  {known}\n"
        f"and here they would be made by\n  {made_by}\n"
        "Runs of two generators are no one population: give this campaign a name of its own (--name)"
    )
