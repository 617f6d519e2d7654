"""Constants of the gradients of a network, measured: lower estimates, statistical estimates, closed forms."""
