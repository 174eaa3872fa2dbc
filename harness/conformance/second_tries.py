"""Second tries of cases that wait for a lease, which begin with the first ones, on a fresh server.

A failure counts only if it comes back. Where time is real, a second wait behind the first one would double
the length of a run; beside it, it costs no time and next to no processor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

from harness.conformance.case_run import Attempt
from harness.conformance.loading import LoadedCase
from harness.conformance.spares import Spare, Spares


class SecondTries:
    """Begins second tries. ``measure`` runs a case on a fresh server."""

    def __init__(self, spares: Spares, measure: Callable[[LoadedCase, Spare], Attempt]) -> None:
        self._spares = spares
        self._measure = measure

    def begin(self, one: LoadedCase) -> Future[Attempt]:
        """The second try, under way. Its result may be what starting a server raised."""
        promise = Future[Attempt]()
        work = threading.Thread(target=self._work, args=(one, promise), name=f"{one.name}-2", daemon=True)
        work.start()
        return promise

    def _work(self, one: LoadedCase, promise: Future[Attempt]) -> None:
        try:
            with self._spares.one(one.case.setup, clean=False) as spare:
                attempt = self._measure(one, spare)
        except BaseException as error:  # raised again where the result is asked for
            promise.set_exception(error)
        else:
            promise.set_result(attempt)
