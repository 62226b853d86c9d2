"""The workspace's documents: their list, who keeps which at this node, Markdown in and out."""
