"""Chapter topics: topics as administrators make, change, see and delete them."""
