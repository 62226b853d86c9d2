"""The robustness run: real nodes in network namespaces, hurt, and judged like simulated ones."""
