"""Liang, Zhang, He, Wu & Xing, DPSGD with bounded domain and smooth losses, in two versions.

The later version (AAAI 2026) is the main text; the earlier version (ICML style) has explicit constants. The
papers' C is the clip norm ``K``, their mu the strong convexity ``m``, and their d the number of parameters
``dim``.
"""
