"""Every ext field of each request and every member of its body in unusual forms, from `specs/fields/`."""

from __future__ import annotations

from harness.conformance.field_cases import Proven, field_cases

globals().update(
    field_cases(
        "broker",
        __name__,
        fields=Proven(
            "bk.fields.unusual-forms-are-answered-as-apache-does",
            later="bk.fields.unusual-forms-of-5x-requests-are-answered-as-apache-does",
            newest="bk.fields.unusual-forms-of-newer-requests-are-answered-as-apache-does",
            earlier="bk.fields.unusual-forms-of-4x-requests-are-answered-as-apache-does",
        ),
        members=Proven(
            "bk.fields.unusual-members-are-answered-as-apache-does",
            later="bk.fields.unusual-members-of-5x-requests-are-answered-as-apache-does",
            newest="bk.fields.unusual-members-of-newer-requests-are-answered-as-apache-does",
        ),
    )
)
