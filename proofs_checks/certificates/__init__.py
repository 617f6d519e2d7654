"""Certificates: an independent checker in one file."""
