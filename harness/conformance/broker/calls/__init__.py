"""Chapter calls: requests that a Broker sends to online consumers on behalf of administrators."""
