"""All request codes of Apache, whether the catalogue has a request of them or not: `specs/codes.yaml`."""

from __future__ import annotations

import functools

import msgspec

from harness.catalogue.files import sound, specs_directory


class Others(msgspec.Struct, frozen=True):
    """Codes of which the catalogue has no message, and why."""

    codes: tuple[int, ...]
    why: str


class RequestCodes(msgspec.Struct, frozen=True):
    """The codes of some releases, by their numbers with Apache's names."""

    releases: tuple[str, ...]
    codes: dict[int, str]
    others: tuple[Others, ...]

    def why(self, code: int) -> str | None:
        """Why the catalogue has no message of this code; None: nothing is said."""
        return next((other.why for other in self.others if code in other.codes), None)


@functools.cache
def request_codes() -> RequestCodes:
    """Those of this installation; read once.

    Raises:
        CatalogueProblems: the file breaks its schema.
    """
    said = sound(specs_directory() / "codes.yaml", specs_directory(), "codes")
    return msgspec.convert(said, RequestCodes, strict=False)
