"""The gateway: sessions of pages at a node, sans-I/O, on the runtime of its node.

Frames come in as messages (`Page.receive`) and go out through a `Writer`. `groupcore.web` puts it
behind the WebSockets of an ASGI application.
"""
