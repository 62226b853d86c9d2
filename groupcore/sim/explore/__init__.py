"""Every behaviour of a very small cluster: the real stacks, all orders of what can happen."""
