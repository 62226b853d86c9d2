"""What who runs the cluster sees and does: gathered from all nodes, by whichever is asked."""
