"""The ordinary request of a code, sent again with one ext field or one member of its body in an unusual form.

The ordinary request is the first of its code in the case that proves the code's owner. Every server that
serves the code answers it.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator

from harness.catalogue import CatalogueError, Message
from harness.catalogue.body_forms import body_forms
from harness.catalogue.field_forms import Form, forms_of
from harness.conformance.case import Case, case_of
from harness.conformance.layout import modules_of
from harness.session import Session
from harness.session.exchange import Exchange
from harness.wire import body_crc32

_CHECKSUM = "bodyCrc32"


class OrdinaryRequest:
    """A request of a code, in the state that its owner's case leaves behind. Raises what that case raises."""

    def __init__(self, session: Session, message: Message) -> None:
        self._session = session
        self._message = message
        _, ask = owner_of(message)
        ask(session)
        sent = (one.asked.request for one in session.requests)
        self.command = next(one for one in sent if one is not None and one.code == message.code)
        """As it is sent at first."""

    def again(self) -> Exchange:
        """Sends it once more, unchanged."""
        return self._send(self.command.ext, self.command.body, "")

    def forms_of_fields(self) -> Iterator[Form]:
        """Its ext fields, one at a time, in other forms."""
        line, nonce = self._session.profile.name, self._session.nonce
        return forms_of(self._message, line, self.command.ext or {}, nonce)

    def forms_of_members(self) -> Iterator[Form]:
        """The members of its body, one at a time, in other forms; a checksum is that of the body sent."""
        ordinary = self.command.ext or {}
        for member, name, body in body_forms(self.command.body, self._session.nonce):
            checksum = {_CHECKSUM: str(body_crc32(body))} if _CHECKSUM in ordinary else {}
            yield Form(member, name, {**ordinary, **checksum}, body)

    def in_form(self, form: Form) -> Exchange:
        """Sends it with one field in another form."""
        return self._send(form.ext, self.command.body if form.body is None else form.body, str(form))

    def _send(self, ext: dict[str, str | None] | None, body: bytes, about: str) -> Exchange:
        like = self.command
        return self._session.call(
            like.code,
            ext,
            body,
            about=about,
            version=like.version,
            flag=like.flag,
            language=like.language,
        )


def owner_of(message: Message) -> tuple[Case, Callable[[Session], object]]:
    """The case that proves the message's owner, and its function."""
    assert message.owner is not None
    return case_proving(message.owner)


@functools.cache
def case_proving(statement: str) -> tuple[Case, Callable[[Session], object]]:
    """The case that proves a statement, and its function. Cases need not be loaded."""
    for module in modules_of(statement):
        for function in vars(importlib.import_module(module)).values():
            declared = case_of(function)
            if declared is not None and statement in declared.statements:
                return declared, function
    raise CatalogueError(statement, "no case of its chapter proves it", "write one there")
