"""What a case changes is set back when its session closes, also where the case fails half way."""

from __future__ import annotations

from harness.session.outcome import Outcome, Replied
from harness.session.terms import TermSession
from harness.wire import RequestCode, ResponseCode, WireError
from harness.wire.bodies import Properties
from harness.wire.view import settings


class SettingsSession(TermSession):
    """A session that remembers the settings before its first update."""

    _has_kept_settings = False

    def keep_settings(self) -> None:
        """To be called before an update: has the settings set back in the end, where they can be read."""
        if self._has_kept_settings:
            return
        self._has_kept_settings = True
        before = self._settings()
        if before is not None:
            self.afterwards(lambda: self._set_back(before))

    def _set_back(self, before: dict[str, str]) -> None:
        now = self._settings() or {}
        changed = {key: value for key, value in before.items() if now.get(key) != value}
        if changed:
            self._ask_aside(RequestCode.UPDATE_NAMESRV_CONFIG, body=Properties(changed).encode())

    def _settings(self) -> dict[str, str] | None:
        """All settings; None where they cannot be read."""
        outcome = self._ask_aside(RequestCode.GET_NAMESRV_CONFIG)
        if not isinstance(outcome, Replied) or outcome.command.code != ResponseCode.SUCCESS:
            return None
        try:
            return settings(outcome.command.body)
        except WireError:
            return None

    def forget_kv(self, namespace: str, key: str) -> None:
        """Has an entry of the KV table deleted in the end, where it can be."""

        def forget() -> None:
            self._ask_aside(RequestCode.DELETE_KV_CONFIG, {"namespace": namespace, "key": key})

        self.afterwards(forget)

    def _ask_aside(self, code: RequestCode, ext: dict[str, str] | None = None, body: bytes = b"") -> Outcome:
        """A request of the harness's own, over a connection of its own."""
        connection = self.connect()
        outcome = self.ask_own(code, ext, body, connection)
        connection.close()
        return outcome
