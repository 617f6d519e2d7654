"""Measurements on real networks; the only folder that imports torch.

`lastiterate.runtime.constants.record` does not import torch, so a measurement from one machine can be read
and plotted on another without torch.
"""
