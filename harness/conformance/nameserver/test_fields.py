"""Every ext field of every request in unusual forms: a case for each request, made from `specs/fields/`."""

from __future__ import annotations

from harness.conformance.field_cases import field_cases

globals().update(
    field_cases(
        "nameserver",
        __name__,
        "ns.fields.unusual-forms-are-answered-as-apache-does",
        "ns.fields.unusual-forms-of-5x-requests-are-answered-as-apache-does",
    )
)
