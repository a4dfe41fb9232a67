"""Experiments and measurements, beside the product.

`python -m benchmarks NAME` runs a published experiment again; the other files are
scripts of their own (`python benchmarks/judge.py`).
"""
