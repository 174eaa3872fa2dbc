"""Chapter filter: messages that are wanted for their properties."""
