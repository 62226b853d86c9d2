"""Who may do what at a node's management address, and how commands find what they show there."""
