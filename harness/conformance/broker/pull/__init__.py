"""Chapter pull: what a consumer gets when it pulls, and how long it waits (codes 11 and 361)."""
