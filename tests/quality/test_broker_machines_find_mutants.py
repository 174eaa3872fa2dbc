"""The Broker's machine finds mutants that concern state within the first programs of a seed.

`broker_hunting.py` tells of all of them, and how small their programs get.
"""

from __future__ import annotations

import pytest
from broker_hunting import broker_mutants
from hunting import hunt, spread

MOST = 100
"""Programs; a run of `fuzz` plays as many in seconds."""
FOUND = (
    "only-the-first-member-is-listed",
    "delayed-by-half",
    "delayed-never",
    "delayed-loses-body",
    "delayed-loses-properties",
    "delayed-twice",
    "delay-level-not-clamped",
    "delays-in-one-line",
    "locks-are-given-once",
    "flags-are-zero",
    "messages-know-queue-0",
    "messages-know-offset-0",
    "ids-are-counted",
    "born-when-stored",
    "consumed-never",
    "queues-share-offsets",
    "hands-over-late",
    "queues-begin-anew",
    "keys-are-forgotten",
    "oneway-commits-are-dropped",
    "half-messages-are-visible",
    "roll-backs-commit",
    "commits-are-lost",
    "any-group-ends",
    "sent-back-is-lost",
    "oneway-sends-are-dropped",
    "pulls-do-not-wait",
    "pulls-commit-nothing",
    "ids-find-next-message",
    "all-topics-are-searched",
    "role-stays",
    "promotion-is-ignored",
    "slave-takes-messages",
    "slave-is-not-read-from",
    "slave-is-read-from",
    "slave-commits-by-pulls",
    "slave-takes-back",
    "slave-ends-transactions",
    "slave-changes-topics",
    "slave-delivers-delays",
    "demotion-forgets-delays",
    "demotion-forgets-transactions",
    "demotion-forgets-offsets",
    "unknown-ends-are-answered",
    "nobody-is-told-who-leaves",
    "subscriptions-only-grow",
    "silent-clients-stay",
    "deleted-topics-are-not-written",
    "asked-in-spite-of-immunity",
    "late-ends-commit",
    "registers-with-the-first-only",
    "gives-up-after-silence",
    "absent-nameserver-is-forgotten",
    "absent-nameserver-holds-up-others",
    "table-without-new-topics",
    "new-topic-keeps-the-data-version",
    "unregisters-from-the-first-only",
    "slave-registers-as-master",
    "registers-without-asking",
    "unchanged-is-registered-too",
    "changed-is-not-registered",
    "different-is-never-true",
    "numbers-are-ordered-as-text",
    "filters-of-heartbeats-do-not-count",
    "later-filters-never-replace",
    "restarts-forget-filters",
    "unknown-decides",
    "unreadable-filters-of-pops-want-everything",
    "pops-want-everything",
    "recalls-delete-nothing",
    "recalls-delete-one",
    "recalls-delete-all",
    "recalls-do-not-say-what",
    "recalls-are-always-enabled",
    "handles-of-any-topic",
    "recalls-of-any-topic",
    "deletions-are-forgotten",
    "pushes-from-the-beginning",
    "pushes-once",
    "pushes-whole-messages",
    "sends-do-not-wait",
    "waits-for-no-slave",
    "send-without-slave-has-no-fields",
    "any-report-answers",
    "beginning-suffices",
    "late-sends-succeed",
    "every-send-waits",
    "slave-connects-once",
    "slave-takes-the-first-message",
    "slave-forgets-keys",
    "promoted-slaves-see-to-no-delays",
    "static-topics-are-plain",
    "mapped-queues-are-their-own",
    "mapped-sends-tell-where-they-are",
    "other-queues-are-served",
    "mapped-sends-name-a-queue",
    "mapped-offsets-begin-anew",
    "mapped-queues-end-where-a-part-does",
    "mapped-queues-begin-where-they-end",
    "mapped-commits-are-as-they-are",
    "old-mappings-are-taken",
    "mappings-stay",
    "mappings-do-not-survive",
    "old-leaders-go-on",
)


def test_the_listed_mutants_are_about_state() -> None:
    assert set(FOUND) <= {one.name for one in broker_mutants()}


@pytest.mark.parametrize("name", spread(FOUND))
def test_a_mutant_is_found_soon(name: str) -> None:
    found = hunt(name, "1", examples=MOST, shrinks=False, role="broker")
    assert found.examples is not None, f"not found in {MOST} programs"
    assert found.statement.startswith("bk."), found.statement
