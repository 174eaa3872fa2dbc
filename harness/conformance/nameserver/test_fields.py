"""Every ext field of each request and every member of its body in unusual forms, from `specs/fields/`."""

from __future__ import annotations

from harness.conformance.field_cases import Proven, field_cases

globals().update(
    field_cases(
        "nameserver",
        __name__,
        fields=Proven(
            "ns.fields.unusual-forms-are-answered-as-apache-does",
            later="ns.fields.unusual-forms-of-5x-requests-are-answered-as-apache-does",
        ),
        members=Proven(
            "ns.fields.unusual-members-are-answered-as-apache-does",
            later="ns.fields.unusual-members-of-5x-requests-are-answered-as-apache-does",
        ),
    )
)
