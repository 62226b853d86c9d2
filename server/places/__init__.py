"""Places at a node: what pages may open, and what is asked of them over HTTP."""
