"""The catalogue: all that is in `specs/`, loaded, validated, chosen and counted."""

from harness.catalogue.coverage import Coverage, coverage
from harness.catalogue.errors import CatalogueError, CatalogueProblems
from harness.catalogue.load import Catalogue, catalogue, load, load_messages, messages, specs_directory
from harness.catalogue.messages import Layout, Member, Message, Messages, Row
from harness.catalogue.quirks import Quirk, Seen, Server, VersionRange, explanation
from harness.catalogue.reports import Report, tag_of, tags_of
from harness.catalogue.roles import ROLES, Role
from harness.catalogue.select import matches, nearest, select
from harness.catalogue.statements import LEVELS, Level, Profile, Source, Statement

__all__ = [
    "LEVELS",
    "ROLES",
    "Catalogue",
    "CatalogueError",
    "CatalogueProblems",
    "Coverage",
    "Layout",
    "Level",
    "Member",
    "Message",
    "Messages",
    "Profile",
    "Quirk",
    "Report",
    "Role",
    "Row",
    "Seen",
    "Server",
    "Source",
    "Statement",
    "VersionRange",
    "catalogue",
    "coverage",
    "explanation",
    "load",
    "load_messages",
    "matches",
    "messages",
    "nearest",
    "select",
    "specs_directory",
    "tag_of",
    "tags_of",
]
