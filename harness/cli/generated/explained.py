"""The survivors that a person has explained: a file beside the seed that drew them.

    reference_impl/broker/pop.py::Pops.start: if a: → if b:
      equivalent: both are true of every queue

One entry for each fault, by its name; its value says which kind it is, and why.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

KINDS = ("equivalent", "not visible", "free")
"""Changes nothing · no peer can see it · the catalogue leaves it to the server."""


def read_explained(path: Path) -> dict[str, str]:
    """Fault name -> "kind: why".

    Raises ValueError, with a sentence, for a file that cannot be read or does not have this form.
    """
    try:
        found = msgspec.yaml.decode(path.read_bytes(), type=dict[str, dict[str, str]] | None) or {}
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: {error}; expected `NAME: {{KIND: WHY}}` entries") from None
    for name, said in found.items():
        if len(said) != 1 or next(iter(said)) not in KINDS:
            raise ValueError(f"{path}: {name}: {list(said)}; expected one of {', '.join(KINDS)}, and why")
    return {name: f"{kind}: {why}" for name, said in found.items() for kind, why in said.items()}
