"""State transfer: versions, headers, events, and the two roles, giver and taker."""
