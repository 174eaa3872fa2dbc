"""Chapter registration: what a Broker registers, when, and how it handles the answers."""
