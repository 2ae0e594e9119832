"""Refuses every way out of this machine, for a whole process.

An audit hook sees a connection below Python's classes, so that no client, no thread and no C extension
gets round it; nothing is patched, and nothing can take it away again. It doesn't reach subprocesses:
one that runs foreign code calls `refuse_the_network` itself.
"""

import ipaddress
import os
import sys

_HERE = ("", "localhost", "0.0.0.0", "::", None)


class NetworkRefused(Exception):
    """Something tried to leave this machine."""

    def __init__(self, event: str, target: object) -> None:
        super().__init__(
            f"{event} to {target!r} was refused: tests reach loopback and unix sockets only; "
            "use a fake at our own seam, or a server on 127.0.0.1"
        )


def stays_here(host: object) -> bool:
    """Whether a host is loopback, by name or by number."""
    if isinstance(host, bytes):
        host = os.fsdecode(host)
    if host in _HERE:
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


def refuse_the_network() -> None:
    """Refuse, from here on, what doesn't stay on this machine."""
    sys.addaudithook(_refuse)


def _refuse(event: str, args: tuple[object, ...]) -> None:
    # Called for every event of the interpreter: the cheap question comes first.
    if not event.startswith("socket."):
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = args[1]
        # A path is a unix socket's; no address at all is that of a socket connected before.
        if isinstance(address, tuple) and not stays_here(address[0]):
            raise NetworkRefused(event, address)
    elif event in ("socket.getaddrinfo", "socket.gethostbyname") and not stays_here(args[0]):
        raise NetworkRefused(event, args[0])
