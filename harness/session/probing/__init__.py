"""NameServers of the harness that a Broker under test registers with, and what they received."""
