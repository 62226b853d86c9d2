"""The Spark jobs: what the nodes' trace shows of load and overlap, and whether the order was kept."""
