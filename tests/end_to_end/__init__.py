"""Whole clusters of real server processes, driven from outside."""
