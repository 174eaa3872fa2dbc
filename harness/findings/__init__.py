"""From failure to finding: confirmed, minimised, explained, and written down so that anyone can reproduce it.

A failure is tried again on a fresh target; one that does not show again is `flaky`, with its rate. The
package works on data alone (programs, attempts, traces) and reads no clock: budgets bring the reading.
"""
