"""Chapter acl: who may ask a Broker what."""
