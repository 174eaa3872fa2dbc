"""The reference Broker: bytes, answers of other servers and time in, effects out. `build` makes one.

    endpoint = build("5.3", config=Config(namesrv_addr="10.0.0.1:9876"), chance=chance, started=now)
    for effect in endpoint.tick(now): ...
    endpoint.connected(1, "10.0.0.9:40000", now)
    for effect in endpoint.received(1, frame, now): ...

Everything about calling it is in `reference_impl/remoting/endpoint.py`; everything about changing one
decision is in `parts.py`.
"""

from collections.abc import Mapping

from reference_impl.remoting.endpoint import Certificates

from .config import Config
from .endpoint import Endpoint
from .part import Chance
from .parts import PARTS, Parts
from .profiles import PROFILES

__all__ = ["PARTS", "PROFILES", "Certificates", "Chance", "Config", "Endpoint", "Parts", "build"]


def build(
    profile: str = "5.3",
    *,
    config: Config | None = None,
    stored: Mapping[str, bytes] | None = None,
    parts: Parts | None = None,
    chance: Chance,
    started: int,
    certificates: Certificates | None = None,
) -> Endpoint:
    """A Broker that has just started.

    `profile` is "4.9" or "5.3"; `stored` is what the files below its root directory say, by name, from the
    last run; `parts` stands in for the profile's own; `started` is the time, ms since the epoch;
    `certificates` is asked once for each TLS connection.
    """
    if profile not in PARTS:
        raise ValueError(f"unknown profile {profile!r}; expected one of {', '.join(PARTS)}")
    chosen = PARTS[profile] if parts is None else parts
    broker = chosen.broker(
        chosen,
        config=Config() if config is None else config,
        stored=stored or {},
        chance=chance,
        started=started,
    )
    return chosen.endpoint(broker, certificates)
