"""Runs whose last-iterate law is known, from which every claimed upper bound is attacked."""
