"""The cases about NameServers."""
