"""Privacy theorems as derivations: short functions that apply the kernel's rules in the order of the proof."""
