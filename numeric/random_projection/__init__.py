"""SGD with random projections (D2P2-SGD and its kin): the run, the cost of a projection, the bound."""
