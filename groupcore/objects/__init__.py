"""Replicated objects: plain deterministic classes that change by ordered operations."""
