"""The catalogue: statements and profiles in `specs/`, loaded, validated, chosen and counted."""

from harness.catalogue.coverage import Coverage, coverage
from harness.catalogue.errors import CatalogueError, CatalogueProblems
from harness.catalogue.load import Catalogue, catalogue, load, specs_directory
from harness.catalogue.select import matches, nearest, select
from harness.catalogue.statements import LEVELS, Level, Profile, Source, Statement

__all__ = [
    "LEVELS",
    "Catalogue",
    "CatalogueError",
    "CatalogueProblems",
    "Coverage",
    "Level",
    "Profile",
    "Source",
    "Statement",
    "catalogue",
    "coverage",
    "load",
    "matches",
    "nearest",
    "select",
    "specs_directory",
]
