"""Faults of the endpoint that both servers share."""
