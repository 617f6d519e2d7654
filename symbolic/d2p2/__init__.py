"""D2P2-SGD, "dynamically differentially private projected SGD": privacy, utility, and what follows from them.

The paper's letters that collide are renamed: its order eta is alpha, its step size alpha is eta, its K steps
are T, its batch B is b, its dimensions p and d are ell and dim, its sigma_epsilon is nu, and its gamma is
stab.
"""
