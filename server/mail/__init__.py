"""Mail to people: how it is sent, and what it says."""
