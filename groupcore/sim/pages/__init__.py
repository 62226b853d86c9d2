"""Pages of browsers at the gateways of simulated nodes, which speak the protocol of objects.

What they are sent is what browsers are sent: the gateway is that of real nodes.
"""
