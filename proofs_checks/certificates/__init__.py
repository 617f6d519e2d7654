"""Certificates: an independent checker in one file, and the shape of the files that it reads."""
