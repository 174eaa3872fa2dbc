"""Renders what `diff` takes for the same and what it has a name for: one page of the rendered catalogue.

Rules of this module: pure; rules and divergences come as data, it knows nothing of how they come about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

__all__ = ["NAME", "NamedDivergence", "NamedRule", "render"]

NAME = "divergences.md"


class NamedRule(msgspec.Struct, frozen=True):
    """A rule of normal forms, as far as the document shows it."""

    name: str
    what: str
    why: str


class NamedDivergence(msgspec.Struct, frozen=True):
    """An explained divergence, as far as the document shows it."""

    id: str
    profiles: Sequence[str]
    targets: Sequence[str]
    steps: Sequence[str]
    """Titles of the operations that it is about."""
    when: Sequence[str]
    """Names of predicates."""
    differs: Sequence[str]
    taints: str
    passing: bool
    text: str
    reference: str
    source: str
    statements: Sequence[str]


_TAINTS = {
    "nothing": "",
    "broker": "later answers about the broker names that the operation is about",
    "address": "later answers about the address that the operation is about",
    "holder": "later answers about the address that held the id",
    "server": "every later answer; the servers are started anew",
}


def render(
    rules: Sequence[NamedRule],
    asking: Sequence[str],
    divergences: Sequence[NamedDivergence],
    predicates: Mapping[str, str],
) -> str:
    """The page, as Markdown. ``asking`` are rules of how it is asked; ``predicates`` says what each name in
    ``when`` means.
    """
    lines = [
        "# When two NameServers say the same",
        "",
        "Rendered from `harness/differential/normal.py` and `specs/divergences.yaml`; do not edit. "
        "[All chapters](README.md)",
        "",
        "`rmq-harness diff` sends the same operations to two targets. Answers that are equal byte for byte "
        "are the same. All others are compared after the rules below have taken away what no client may rely "
        "on; what is different then is explained by one of the named divergences, or it is a finding.",
        "",
        "## Rules",
        "",
        "| rule | what is the same | why |",
        "|---|---|---|",
        *(f"| `{rule.name}` | {rule.what} | {rule.why} |" for rule in rules),
        "",
        "And of how it is asked:",
        "",
        *(f"- {one}" for one in asking),
        "",
        f"## Named divergences ({len(divergences)})",
        "",
        "In each of them Apache's server does what no client can rely on, and the reference follows the "
        "catalogue.",
        "",
    ]
    for one in divergences:
        lines += _divergence(one, predicates)
    return "\n".join(lines).rstrip("\n") + "\n"


def _divergence(one: NamedDivergence, predicates: Mapping[str, str]) -> list[str]:
    facts = [
        (
            "Where",
            f"{', '.join(one.targets)}, profile {', '.join(f'`{profile}`' for profile in one.profiles)}",
        ),
        ("Operations", ", ".join(one.steps)),
        ("When", " ".join(predicates[name] for name in one.when)),
        ("Differs in that answer", ", ".join(one.differs)),
        ("Differs behind it", _TAINTS[one.taints]),
        (
            "Comes and goes",
            "fuzz: what the server that showed it proves; diff: what new servers do not show again"
            if one.passing
            else "",
        ),
        ("The reference", one.reference),
        ("Source", one.source),
        ("Statements", ", ".join(f"`{statement}`" for statement in one.statements)),
    ]
    return [
        f"### {one.id}",
        "",
        f"> {' '.join(one.text.split())}",
        "",
        *(f"- **{name}:** {' '.join(text.split())}" for name, text in facts if text),
        "",
    ]
