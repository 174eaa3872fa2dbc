"""What a person has explained: faults that survive, statements that no case runs.

    - equivalent: both are true of every queue
      of:
      - "reference_impl/broker/pop.py::Pops.start: if a: → if b:"

One entry for each reason: which kind it is, why, and the names that it explains.
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
    form = f"expected entries of one of {', '.join(kinds)} (and why), and `of`: a list of names"
    try:
        found = msgspec.yaml.decode(path.read_bytes(), type=list[dict[str, str | list[str]]] | None) or []
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: {error}; {form}") from None
    explained: dict[str, str] = {}
    for number, entry in enumerate(found, 1):
        match entry:
            case {"of": list(names), **rest} if len(rest) == 1 and names:
                (kind, why), *_ = rest.items()
            case _:
                raise ValueError(f"{path}: entry {number} has {', '.join(entry)}; {form}")
        if kind not in kinds or not isinstance(why, str):
            raise ValueError(f"{path}: entry {number} has the kind {kind}; {form}")
        for name in names:
            if name in explained:
                raise ValueError(f"{path}: entry {number}: {name} is explained twice")
            explained[name] = f"{kind}: {why}"
    return explained
