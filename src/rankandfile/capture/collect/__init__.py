"""Evidence of many machines brought into one folder, through the site's own ways: ssh, srun, kubectl, a shared path.

A place (`places/`) knows how its machines are named and reached. On each of them a shell script (`far.sh`) lists what
is there and sends what is asked for, as one tar.
"""
