"""Chapter client: how a Broker tracks its clients, and how it notifies them (34, 35, 38, 40)."""
