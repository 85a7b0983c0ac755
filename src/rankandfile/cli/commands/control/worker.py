"""``raf control worker``: a machine waits for the controller of a job."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from rankandfile.cli.errors import UserError
from rankandfile.cli.extras import needs_monarch
from rankandfile.cli.watching import Certificates

ORDER = 20
EXAMPLES = ("raf control worker node0:7400 --tls job-certificates", "raf control worker 127.0.0.1:7400")


def worker(
    address: Annotated[
        str,
        Argument(
            help="Where to wait: this machine as the controller and the other machines call it, and a port.",
            metavar="HOST:PORT",
        ),
    ],
    tls: Certificates = None,
) -> None:
    """Wait on this machine for `raf control run --hosts`, one job after the other, until ended.

    Whoever may connect can run anything here as this user. With --tls, that is whoever shows a certificate of the same
    authority, so let the job have one of its own; without, the address must be on loopback, where every user of this
    machine reaches it. Start it in the folder in which the script is to run. Needs the extra `monarch`.
    """
    from rankandfile.capture.control.doors import NoWay, scheme
    from rankandfile.capture.control.hosts import serve

    try:
        # An address that will not do is told whether or not Monarch is there.
        way = scheme([address], tls)
        needs_monarch()
        serve(f"{way}://{address}")
    except NoWay as error:
        raise UserError(str(error)) from error
    except KeyboardInterrupt:
        return
