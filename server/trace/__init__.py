"""The trace on disk: segments of Arrow record batches, written beside the node's work."""
