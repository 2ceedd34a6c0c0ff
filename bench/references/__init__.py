"""Servers to measure against, each as plain as its kind allows."""
