"""The Spark jobs: load, overlap, placement, and the proof of the order, out of the trace."""
