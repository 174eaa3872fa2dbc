"""Frames and headers."""

from __future__ import annotations

from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Ended, Said
from harness.wire.codes import Serialization


class Frames(Judge):
    statements = (
        "requests.frame-can-be-decoded",
        "requests.frame-has-nothing-odd",
        "requests.header-names-its-language",
        "requests.header-names-its-version",
        "requests.version-stays-the-same",
    )

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._versions: dict[int, Said] = {}

    def undecodable(self, said: Said) -> None:
        (problem, *_) = said.told.dissection.fatal
        self.remark(
            "requests.frame-can-be-decoded",
            f"sent a frame on which Apache closes the connection: {problem.message} ({problem.code})",
            said,
            kind=problem.code,
        )

    def asked(self, said: Said) -> None:
        self._odd(said)
        self._header(said)

    def responded(self, request: Said, answer: Said) -> None:
        self._odd(answer)
        self._header(answer)

    def ended(self, end: Ended) -> None:
        self._versions.pop(end.connection.number, None)

    def _odd(self, said: Said) -> None:
        for problem in said.told.dissection.diagnostics:
            self.remark(
                "requests.frame-has-nothing-odd",
                f"sent a frame that none of Apache's encoders makes: {problem.message} ({problem.code})",
                said,
                kind=problem.code,
            )

    def _header(self, said: Said) -> None:
        command, number = said.command, said.connection.number
        is_json = command.serialization == Serialization.JSON
        names_language = any(one.name == "language" for one in said.told.dissection.fields)
        if command.language is None or (is_json and not names_language):
            named = "is not one of Apache's" if names_language else "is absent: Brokers take it for JAVA"
            self.remark("requests.header-names-its-language", f"the language in its headers {named}", said)
        if command.version <= 0:
            self.remark(
                "requests.header-names-its-version", f"sent a header with version {command.version}", said
            )
            return
        before = self._versions.setdefault(number, said)
        if before.command.version != command.version:
            self.remark(
                "requests.version-stays-the-same",
                f"sent version {before.command.version} first, and {command.version} on the same connection",
                before,
                said,
            )
