"""Near misses of everything that a claim says: each number, symbol, premise and assumption one percent off."""
