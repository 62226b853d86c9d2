"""Whole clusters on virtual time: one seed, one schedule of faults, one trace, one verdict.

The nodes are the same objects that run on sockets (endpoint, transport with real sealing, composed
stack); only clock, network, disk and application are models. `README.md` beside this file says how
to read a failure.
"""
