"""Nodes of ONNX Runtime's own domain, a list of them in each module."""
