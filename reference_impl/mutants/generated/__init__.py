"""Faults that a program makes: one small change in one function of the servers.

The mutants beside this package were written together with the cases that kill them. These were not, so they
measure how much of what others do wrong the catalogue notices. `rmq-harness selftest --generated` runs them.
"""

from .faults import Fault, Site, fault_at, sites_of
from .functions import Statement, statements_of
from .install import LiveFunctions

__all__ = ["Fault", "LiveFunctions", "Site", "Statement", "fault_at", "sites_of", "statements_of"]
