"""Tests of the benchmarks: that they run."""
