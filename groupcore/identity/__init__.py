"""Identities of nodes: certificates of an operator, and the handshake that shows them.

Values and rules alone, no file, no socket, no clock of its own. `groupcore.aio.identity` keeps the
files; docs/decisions/0174 says why it is as it is.
"""
