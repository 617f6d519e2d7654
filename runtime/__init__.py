"""Measures real networks. The only folder that imports torch.

`lastiterate.runtime.constants.record` does not import torch, so that a measurement taken on one machine is read and
drawn on another without it.
"""
