"""The integral calculus: lemmas on divergences of every pair of laws, from a few rules on conditional means."""
