"""Benchmarks. Each prints ratios, measured side by side in one run: figures alone belong to one machine."""
