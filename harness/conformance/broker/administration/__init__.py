"""Chapter administration: groups, connections, progress, settings and state as tools see and change them."""
