"""What the histories of all roles have in common: how they are judged, and how an anomaly gets its name."""
