"""Mutants: the product with one small edit, which some test or schedule has to notice.

A mutant is never written into the work tree: `hook` loads the edited source in its stead.
"""
