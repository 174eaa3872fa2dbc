"""Chapter transaction: half messages, their ends, and the checks that a Broker sends to producers."""
