"""From failure to finding: confirmed, made small, written down so that anyone can do it again.

Rules of this package: nobody is believed the first time. What was seen once is tried again on a fresh target;
what does not show again is `flaky`, with its rate. It is told by data alone (programs, attempts, traces), and
reads no clock: budgets are given the reading.
"""
