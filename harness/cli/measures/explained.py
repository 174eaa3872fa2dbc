"""What a person has explained: faults that survive, statements that no case runs.

    reference_impl/broker/pop.py::Pops.start: if a: → if b:
      equivalent: both are true of every queue

One entry for each, by its name; its value says which kind it is, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from harness.cli.parser import Usage


def explanations(path: Path | None, kinds: Sequence[str]) -> dict[str, str]:
    """What the file of `--explained` says, if there is one. Raises Usage."""
    try:
        return {} if path is None else read_explained(path, kinds)
    except ValueError as error:
        raise Usage(f"rmq-harness selftest: --explained {error}") from None


def read_explained(path: Path, kinds: Sequence[str]) -> dict[str, str]:
    """Name -> "kind: why".

    Raises ValueError, with a sentence, for a file that cannot be read or does not have this form.
    """
    try:
        found = msgspec.yaml.decode(path.read_bytes(), type=dict[str, dict[str, str]] | None) or {}
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: {error}; expected `NAME: {{KIND: WHY}}` entries") from None
    for name, said in found.items():
        if len(said) != 1 or next(iter(said)) not in kinds:
            raise ValueError(f"{path}: {name}: {list(said)}; expected one of {', '.join(kinds)}, and why")
    return {name: f"{kind}: {why}" for name, said in found.items() for kind, why in said.items()}
