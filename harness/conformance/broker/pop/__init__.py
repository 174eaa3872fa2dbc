"""Chapter pop: messages that a group pops, and that return unless it acknowledges them (5.x)."""
