"""Accounts: who somebody is, and what they may; all of it one object in the order."""
