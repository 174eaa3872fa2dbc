"""Puts faults into the servers of this process."""

from __future__ import annotations

import gc
from collections.abc import Container
from types import FunctionType

from reference_impl.mutants.generated.faults import Site, faulty_code


class LiveFunctions:
    """The functions of some modules, as this process has them."""

    def __init__(self, paths: Container[str]) -> None:
        """`paths`: where the modules were loaded from. Later functions are not seen."""
        self._by_place: dict[tuple[str, str, int], list[FunctionType]] = {}
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename in paths:
                code = one.__code__
                place = (code.co_filename, code.co_qualname, code.co_firstlineno)
                self._by_place.setdefault(place, []).append(one)

    def install(self, site: Site, source: str, path: str) -> None:
        """Replaces the code of a function by the faulty one, for as long as the process lives.

        `path` is where the module was loaded from, `source` its text.

        Raises LookupError where there is no such function.
        """
        code = faulty_code(site, source)
        found = self._by_place.get((path, site.function, site.first), [])
        if not found or code is None:
            raise LookupError(f"no function {site.function} of {path} at line {site.first} is loaded")
        for function in found:
            function.__code__ = code.replace(co_filename=path)
