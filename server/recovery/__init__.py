"""How a node gets the state that it has missed."""
