"""Altschuler & Talwar 2022, Privacy of noisy SGD: more iterations without more privacy loss."""
