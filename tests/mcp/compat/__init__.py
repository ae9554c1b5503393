"""Tests of the adapters of older systems."""
