"""The suite itself can't reach the network."""

import asyncio
import socket

import pytest

from tests.offline import NetworkRefused


# Addresses set aside for documentation: where nothing is refused, nobody is reached either.
@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
def test_other_machines_are_refused(host: str) -> None:
    """A connection or a datagram to another machine is refused before it is tried."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as datagrams, pytest.raises(NetworkRefused):
        datagrams.sendto(b"", (host, 9))
    with socket.socket(family) as stream, pytest.raises(NetworkRefused):
        stream.connect((host, 9))


def test_names_are_not_looked_up() -> None:
    """Asking for another machine's address is refused, for the question itself leaves this one."""
    with pytest.raises(NetworkRefused, match=r"example\.invalid"):
        socket.getaddrinfo("example.invalid", 443)


@pytest.mark.anyio
async def test_loopback_is_open() -> None:
    """A server on this machine can be reached, and a coroutine is a test."""
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
