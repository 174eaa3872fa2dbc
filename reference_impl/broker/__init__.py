"""The reference Broker: bytes, answers of other servers and time in, effects out. `build` makes one.

    endpoint = build("5.3", config=Config(namesrv_addr="10.0.0.1:9876"), chance=chance, started=now)
    for effect in endpoint.tick(now): ...
    endpoint.connected(1, "10.0.0.9:40000", now)
    for effect in endpoint.received(1, frame, now): ...

Everything about calling it is in `reference_impl/remoting/endpoint.py`; everything about changing one
decision is in `parts.py`.
"""

from collections.abc import Callable, Mapping

from reference_impl.remoting.endpoint import Certificates, no_certificate
from reference_impl.remoting.parts import Parts

from .acl.access import AclFiles, no_files
from .acl.accounts import AclError
from .config import Config
from .core import OfClient, nothing_said, the_same
from .endpoint import Endpoint
from .part import Chance
from .parts import PARTS
from .store import MemoryStorage, Storage, StoreError

__all__ = [
    "PARTS",
    "AclError",
    "AclFiles",
    "Certificates",
    "Chance",
    "Config",
    "Endpoint",
    "MemoryStorage",
    "Parts",
    "Storage",
    "StoreError",
    "build",
]


def build(
    profile: str = "5.3",
    *,
    config: Config | None = None,
    storage: Storage | None = None,
    stored: Mapping[str, bytes] | None = None,
    parts: Parts | None = None,
    mutant: str | None = None,
    chance: Chance,
    started: int,
    certificates: Certificates = no_certificate,
    of_client: OfClient = the_same,
    acl_files: AclFiles = no_files,
    warn: Callable[[str], None] = nothing_said,
) -> Endpoint:
    """A Broker that has just started.

    `profile` is "4.9", "5.3" or "5.5"; `storage` is where messages are, in memory where there is none;
    `stored` is what the other files below the root directory say, by name, from the last run; `parts` stands
    in for the profile's own; `mutant` is the name of a deliberate fault to apply to them (raises KeyError for
    an unknown one, ValueError for one that does not apply); `started` is the time, ms since the epoch;
    `certificates` is asked once for each TLS connection; `of_client` gives the Broker's time at a moment that
    a client's clock shows; `acl_files` is asked for the files of access control every few seconds, where
    `aclEnable` is true; `warn` gets what an administrator should know. Raises StoreError for a storage that
    is damaged, AclError for such a file that cannot be read.
    """
    if profile not in PARTS:
        raise ValueError(f"unknown profile {profile!r}; expected one of {', '.join(PARTS)}")
    chosen = PARTS[profile] if parts is None else parts
    if mutant is not None:
        # Mutants are made of these parts, so that module can only be imported when this one is complete.
        from reference_impl.mutants import apply

        chosen = apply(mutant, chosen, "broker")
    settings = Config() if config is None else config
    broker = chosen["broker"](
        chosen,
        config=settings,
        store=chosen["store"](
            MemoryStorage() if storage is None else storage,
            settings.of_store(),
            chosen.profile.messages,
            finds_tags=chosen.profile.v55,
            has_light_queues=chosen.profile.v55 and settings.has_light_topics,
        ),
        stored=stored or {},
        chance=chance,
        started=started,
        of_client=of_client,
        acl_files=acl_files,
        warn=warn,
    )
    endpoint: Endpoint = chosen["endpoint"](broker, certificates)
    return endpoint
