"""The figures that rest on measured networks, one a module, by paper and number."""
