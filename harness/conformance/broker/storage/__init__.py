"""Chapter storage: what a Broker has acknowledged survives a kill, a stop and a restart."""
