"""Chapter light: messages in light topics, of which a topic can have very many (5.5)."""
