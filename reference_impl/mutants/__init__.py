"""Deliberate faults of the reference, one decision each: every case and every machine is measured on them.

`registry.py` says how one is written. A fault of the NameServer is in `nameserver`, one of the Broker in
`broker`, and one of the endpoint that both share in `remoting`. Each chapter of the catalogue has a module or
a folder (`data_version.py` for `data-version.yaml`); `historical.py` has bugs of real releases. A name is
given once and never again, and says what the faulty server does.
"""

import importlib
import pkgutil

from .registry import MUTANTS, Mutant, apply, mutant, mutants_of, problem_with

__all__ = ["MUTANTS", "Mutant", "apply", "mutant", "mutants_of", "problem_with"]

for _folder in ("broker", "nameserver", "remoting"):
    for _found in pkgutil.walk_packages([f"{path}/{_folder}" for path in __path__], f"{__name__}.{_folder}."):
        importlib.import_module(_found.name)
