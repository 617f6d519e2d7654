"""The figures that need no measurement, one a module: those of the papers by paper and number, and ours."""
