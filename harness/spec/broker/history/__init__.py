"""Whether what clients saw of a Broker at the same time has an order that the catalogue allows."""
