"""The control plane's protocols, one a file. No layer imports another."""
