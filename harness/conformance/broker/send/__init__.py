"""Chapter send: how messages of producers are stored and answered (codes 10, 310, 320)."""
