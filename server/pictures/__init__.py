"""Pictures in documents: stored by hash beside the ordered log, at each node, and checked."""
