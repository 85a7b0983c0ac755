"""What a job is started with: scripts, environments, manifests, Python files. Bytes in, `Settings` out.

Nothing is executed. A file that cannot be understood in part gives the rest, and a note.
"""
