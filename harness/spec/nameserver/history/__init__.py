"""Whether what peers saw of a NameServer at the same time has an order that the catalogue allows."""
