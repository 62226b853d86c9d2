"""What the two addresses of a node answer."""
