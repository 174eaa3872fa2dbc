"""The catalogue: all that is in `specs/`, loaded, validated, chosen and counted."""

from harness.catalogue.coverage import Coverage, coverage
from harness.catalogue.errors import CatalogueError, CatalogueProblems
from harness.catalogue.files import specs_directory
from harness.catalogue.load import Catalogue, catalogue, known_quirks, load, load_messages, messages
from harness.catalogue.mentioned import named_requests, requests_of, responses_of
from harness.catalogue.messages import Layout, Member, Message, Messages, Row
from harness.catalogue.profiles import (
    Feature,
    Profile,
    default_profile,
    nearest_line,
    newest_profile,
    profile_named,
    profiles,
    release_line,
)
from harness.catalogue.quirks import (
    NO_QUIRKS,
    Quirk,
    Scope,
    Seen,
    Server,
    UnknownServer,
    VersionRange,
    When,
    explanation,
    judged_as,
)
from harness.catalogue.releases import Fix, fixes, missing_from, release_of
from harness.catalogue.reports import Report, tag_of, tags_of
from harness.catalogue.roles import ROLES, Role
from harness.catalogue.select import did_you_mean, matches
from harness.catalogue.sources import Source
from harness.catalogue.statements import CLASSES, LEVELS, Class, Level, Statement
from harness.catalogue.usage import Usage, usage

__all__ = [
    "CLASSES",
    "LEVELS",
    "NO_QUIRKS",
    "ROLES",
    "Catalogue",
    "CatalogueError",
    "CatalogueProblems",
    "Class",
    "Coverage",
    "Feature",
    "Fix",
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
    "Scope",
    "Seen",
    "Server",
    "Source",
    "Statement",
    "UnknownServer",
    "Usage",
    "VersionRange",
    "When",
    "catalogue",
    "coverage",
    "default_profile",
    "did_you_mean",
    "explanation",
    "fixes",
    "judged_as",
    "known_quirks",
    "load",
    "load_messages",
    "matches",
    "messages",
    "missing_from",
    "named_requests",
    "nearest_line",
    "newest_profile",
    "profile_named",
    "profiles",
    "release_line",
    "release_of",
    "requests_of",
    "responses_of",
    "specs_directory",
    "tag_of",
    "tags_of",
    "usage",
]
