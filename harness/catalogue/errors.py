"""The error of a catalogue, or of a case, that does not load."""

from __future__ import annotations


class CatalogueError(Exception):
    """Something in `specs/` or in a case is not as it must be.

    `where` is a file, with a line or an item where there is one; `wrong` says what is there instead of what
    was expected; `do` says what to do about it.
    """

    def __init__(self, where: str, wrong: str, do: str) -> None:
        super().__init__(f"{where}: {wrong}; {do}")
        self.where = where
        self.wrong = wrong
        self.do = do


class CatalogueProblems(Exception):  # noqa: N818 - it carries errors, it is not one more
    """Everything that is wrong, at once."""

    def __init__(self, problems: list[CatalogueError]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems
