"""Measures real networks. The only folder that imports torch.

`lastiterate.runtime.constants.record` and `lastiterate.runtime.figures.chien_li_2a` do not import torch, so that a
measurement taken on one machine is read and drawn on another without it.
"""
