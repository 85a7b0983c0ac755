"""NCCL-shaped hangs at any scale: a simulation of who can proceed, and what such a hang leaves behind."""
