"""Tests of the tidy rules: each finds a planted mistake and passes its opposite."""
