"""Who may ask: programs of this machine, or of those that were named; no page in a browser.

1. A page of a stranger reaches a port of this machine under a name of its own that it lets point here (DNS
   rebinding). So the Host of a request must be a name that was given, or an address.
2. A browser says where a request comes from (Origin, Sec-Fetch-Site). What does not come from a page of this
   very port is refused, also if the page is of another port of this machine.
3. What a page can send without being asked first (a form) has no media type of JSON; `reading` demands one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

from .problems import ProblemError

_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::\d{1,5})?")
_LOCAL: Final = "localhost"


class Hosts:
    """The Hosts under which the port may be asked. `names` were given; `is_open`: it listens to the network,
    so that any address may be its own.
    """

    def __init__(self, names: Iterable[str] = (), *, is_open: bool = False) -> None:
        self._names = frozenset(map(_plain, [_LOCAL, *names]))
        self._is_open = is_open

    def check(self, headers: Iterable[tuple[str, str]]) -> None:
        """Raises ProblemError for a request that is not for this port, or comes from a page."""
        given: dict[str, list[str]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value)
        hosts = given.get("host", [])
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            raise ProblemError(
                "foreign",
                f"Host: expected localhost or an address of this machine, got {', '.join(hosts) or 'none'}; "
                "a name that others reach this port by is given with --control-name",
            )
        for origin in given.get("origin", []):
            if origin.lower() != f"http://{hosts[0]}".lower():
                raise ProblemError(
                    "foreign", f"Origin: expected none, got {origin}; pages of other sites may not ask"
                )
        for site in given.get("sec-fetch-site", []):
            if site not in ("same-origin", "none"):
                raise ProblemError(
                    "foreign", f"Sec-Fetch-Site: expected none, got {site}; pages of other sites may not ask"
                )

    def _is_ours(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found[1] or _plain(found[2])
        if name in self._names:
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return self._is_open or address.is_loopback


def _plain(name: str) -> str:
    return name.lower().rstrip(".")
