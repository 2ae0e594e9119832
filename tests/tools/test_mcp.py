"""MCP servers that really run: their tools, their results, and what happens when they fail."""

import asyncio
import logging
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette

from antiphon import ToolCall, ToolResult
from antiphon.errors import Misuse
from antiphon.tools import (
    McpHttpServer,
    McpServerDown,
    McpServers,
    McpStdioServer,
    ToolContext,
    ToolPolicy,
    prepared,
    run_call,
    tool,
    tools_of,
)
from antiphon.tools._mcp_connection import Connection
from tests.tools.mcp_servers import workshop
from tests.tools.mcp_servers.forgetful import Forgetful

pytestmark = pytest.mark.anyio
HERE = Path(__file__).parent / "mcp_servers"


def rough(*args: str, name: str = "rough", notes: Path = Path("/dev/null"), **more: Any) -> McpStdioServer:
    """The server that misbehaves when asked to."""
    command = [str(HERE / "rough.py"), *args]
    return McpStdioServer(name, sys.executable, args=command, env={"ROUGH_NOTES": str(notes)}, **more)


def shop(name: str = "shop", **more: Any) -> McpStdioServer:
    """The well-behaved server."""
    return McpStdioServer(name, sys.executable, args=[str(HERE / "workshop.py")], **more)


async def called(servers: McpServers, full_name: str, /, **arguments: Any) -> ToolResult:
    """The result of one call, made as a turn makes it."""
    [meant] = [each for each in servers.tools() if each.name == full_name]
    call = prepared(meant, ToolCall.of("c1", full_name, arguments=arguments))
    return await run_call(meant, call, context=ToolContext("s", "t", "c1", None))


@asynccontextmanager
async def on_loopback(app: Starlette, port: int = 0) -> AsyncIterator[int]:
    """An app on HTTP; gives its port."""
    config = uvicorn.Config(app, port=port, log_level="critical", timeout_graceful_shutdown=0)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await serving


async def test_a_tool_is_offered_under_its_full_name_as_the_server_describes_it() -> None:
    """Schema and description are kept; what no name may hold becomes an underscore."""
    async with McpServers([rough()]) as servers:
        found = {each.name: each.spec for each in servers.tools()}
    assert list(found)[:2] == ["mcp.rough.die", "mcp.rough.hang"]
    assert found["mcp.rough.a_b"].description == "a/b"
    bare = {"type": "object", "$comment": "kept", "x-own": 1, "properties": {}}
    assert found["mcp.rough.bare"].parameters == bare


async def test_only_the_caller_names_a_tool_read_only() -> None:
    """What a server says of its own tools grants nothing."""
    async with McpServers([shop(read_only=["greet"])]) as servers:
        decided = {each.name: ToolPolicy().decide(each.name, {}, tool=each).action for each in servers.tools()}
        assert {each.name for each in servers.tools() if each.read_only} == {"mcp.shop.greet"}
    assert decided["mcp.shop.add"] == "ask"
    assert decided["mcp.shop.greet"] == "run"


async def test_a_tool_that_will_not_do_is_refused_by_name() -> None:
    """A second one of a name, one without a valid schema, and a word of the caller's that names none."""
    async with McpServers([rough(read_only=["cuont"])]) as servers:
        assert dict(servers.refused) == {
            "mcp.rough.a_b": "the server lists another tool under this name",
            "mcp.rough.odd": (
                "its schema is not valid at ['properties']['x']['type']:"
                " 'strange' is not valid under any of the given schemas"
            ),
            "mcp.rough.cuont": "named read-only, but its server lists no such tool",
        }
        with pytest.raises(Misuse, match=r"two tools are named 'mcp.rough.die'"):
            tools_of([tool(name="mcp.rough.die")(lambda: None), *servers.tools()])


async def test_results_over_stdio() -> None:
    """Structured ones, texts, pictures, resources and errors, of a server of the newest protocol."""
    async with McpServers([shop()]) as servers:
        added = await called(servers, "mcp.shop.add", x=1, y=2)
        assert added == ToolResult.of("c1", "mcp.shop.add", output={"sum": 3})
        assert (await called(servers, "mcp.shop.greet", name="Ana")).output == "hello Ana"
        drawn = await called(servers, "mcp.shop.draw")
        assert (drawn.output, drawn.media[0].media_type) == ("here it is\n[media 1: image/png]", "image/png")
        assert "buy nails" in (await called(servers, "mcp.shop.look")).text
        failed = await called(servers, "mcp.shop.fail")
        assert failed.is_error
        assert "no wood left" in failed.text


async def test_arguments_go_as_given_and_calls_may_come_from_any_task() -> None:
    """Many at once, and each has its own answer."""
    async with McpServers([rough()]) as servers:
        results = await asyncio.gather(*(called(servers, "mcp.rough.count", self=n, name="é") for n in range(20)))
    assert [each.output for each in results] == [
        f'call {n + 1} with {{"self": {n}, "name": "\\u00e9"}}' for n in range(20)
    ]


async def test_a_servers_patterns_are_the_servers_to_check() -> None:
    """One that takes for ever would stop everything here, so an argument is passed on as it is."""
    async with McpServers([rough()]) as servers:
        found = {each.name: each for each in servers.tools()}
        call = ToolCall.of("c1", "mcp.rough.slow", arguments={"x": "aaaa!"})
        assert prepared(found["mcp.rough.slow"], call).decoded == {"x": "aaaa!"}


async def test_a_server_killed_mid_call_costs_that_call_and_comes_back() -> None:
    """The call has an error for its result, other servers go on, and the next call starts the server anew."""
    async with McpServers([rough(), rough(name="other")]) as servers:
        await called(servers, "mcp.rough.count")
        hanging = asyncio.create_task(called(servers, "mcp.rough.hang"))
        died = await called(servers, "mcp.rough.die")
        for each in (died, await hanging):
            assert each.is_error
            assert "McpServerDown: MCP server 'rough' went away during the call: its program ended" in each.text
        assert "I am dying" not in died.text
        assert servers.failures == {"rough": "its program ended; it last said 'I am dying'"}
        assert (await called(servers, "mcp.other.count")).output == "call 1 with {}"
        assert (await called(servers, "mcp.rough.count")).output == "call 1 with {}"
        assert not servers.failures
        # Started anew, it may have others.
        assert servers.changed
        assert not await servers.refresh()


async def test_a_call_without_an_answer_ends_at_its_timeout_and_is_canceled_at_the_server(tmp_path: Path) -> None:
    """The servers' timeout bounds every call; the server goes on with others."""
    notes = tmp_path / "notes"
    async with McpServers([rough(notes=notes)], timeout=1) as servers:
        result = await called(servers, "mcp.rough.hang")
        assert "ToolTimeout" in result.text
        # Answered behind the cancellation, which is thereby noted.
        assert (await called(servers, "mcp.rough.count")).output == "call 2 with {}"
        assert notes.read_text() == "hanging\ncancelled\n"


async def test_servers_that_do_not_start_leave_the_others_alone() -> None:
    """`failures` says why, by server: it ended, it is no program, nobody listens, it never answers."""
    started = time.monotonic()
    bad = [rough("--fail", name="bad"), McpStdioServer("none", "/no/such/program"), rough("--mute", name="mute")]
    gone = McpHttpServer("gone", "http://127.0.0.1:9/mcp")
    async with McpServers([*bad, gone, rough()], start_timeout=1.5) as servers:
        failures = servers.failures
        assert {each.name.split(".")[1] for each in servers.tools()} == {"rough"}
    assert failures["bad"] == "its program ended; it last said 'no such workshop'"
    assert failures["none"] == "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/program'"
    assert failures["mute"].startswith("it did not answer within 1.5 s")
    assert failures["gone"].startswith("ConnectError: ")
    assert time.monotonic() - started < 15


async def test_a_server_that_does_not_start_is_tried_again_after_a_while() -> None:
    """Until then calls fail at once; the wait doubles."""
    now = [0.0]
    connection = Connection(rough("--fail"), start_timeout=10, clock=lambda: now[0])
    said = []
    for moment in (0.0, 0.9, 1.0, 2.9, 3.0):
        now[0] = moment
        with pytest.raises(McpServerDown) as raised:
            await connection.called("count", {}, full_name="mcp.rough.count")
        said.append(raised.value.why)
    ended, waiting = "its program ended", "its program ended; it is tried again in 1 s"
    assert said == [ended, waiting, ended, waiting, ended]
    await connection.aclose()


async def test_the_environment_does_not_leak() -> None:
    """A program gets what the configuration names, and PATH, HOME and the like; its words go to the log."""
    async with McpServers([rough()]) as servers:
        names = set((await called(servers, "mcp.rough.environment")).text.split())
    assert "ROUGH_NOTES" in names
    assert names <= {"ROUGH_NOTES", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"}


async def test_standard_error_goes_to_the_log(caplog: pytest.LogCaptureFixture, capfd: Any) -> None:
    """And never to the terminal."""
    with caplog.at_level(logging.INFO, "antiphon"):
        async with McpServers([rough()]):
            pass
    assert "MCP server 'rough': rough is up" in caplog.messages
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("server", [rough(name="s"), shop(name="s")], ids=["older", "newest"])
async def test_changed_tools_come_with_a_refresh(server: McpStdioServer) -> None:
    """Between turns, when the caller asks: what a server announces changes nothing by itself."""
    async with McpServers([server]) as servers:
        before = servers.tools()
        announced = [servers.changed]
        await called(servers, "mcp.s.grow")
        while not servers.changed:  # noqa: ASYNC110 - the announcement comes beside the result
            await asyncio.sleep(0.01)
        assert announced == [False]
        assert servers.tools() == before
        assert await servers.refresh()
        assert {each.name for each in servers.tools()} - {each.name for each in before} == {"mcp.s.grown"}
        assert not await servers.refresh()


async def test_what_is_no_message_is_passed_over() -> None:
    """Some servers greet people on their standard output, and not always in UTF-8."""
    async with McpServers([rough("--chatty")]) as servers:
        assert (await called(servers, "mcp.rough.count")).output == "call 1 with {}"


async def test_halves_of_characters_do_not_end_a_connection() -> None:
    """Models write them; what is sent has a question mark in their place."""
    async with McpServers([rough()]) as servers:
        assert (await called(servers, "mcp.rough.count", q="a\ud800")).output == 'call 1 with {"q": "a?"}'


async def test_a_result_that_does_not_fit_its_own_schema_is_an_error() -> None:
    """A short one: neither the schema nor the result is quoted."""
    async with McpServers([rough()]) as servers:
        result = await called(servers, "mcp.rough.wrong")
    assert result.is_error
    assert result.text.startswith("ToolError: tool 'mcp.rough.wrong' was run, but its result does not fit the schema")


async def test_a_server_over_http_fails_and_comes_back() -> None:
    """Calls go over streamable HTTP; one fails while nobody listens; the next makes a new connection."""
    async with on_loopback(workshop.made().streamable_http_app()) as port:
        servers = McpServers([McpHttpServer("shop", f"http://127.0.0.1:{port}/mcp")])
        await servers.start()
        assert (await called(servers, "mcp.shop.add", x=1)).output == {"sum": 2}
    failed = await called(servers, "mcp.shop.add", x=1)
    assert failed.is_error
    assert "MCP server 'shop' went away during the call: ConnectError" in failed.text
    async with on_loopback(workshop.made().streamable_http_app(), port):
        assert (await called(servers, "mcp.shop.add", x=1)).output == {"sum": 2}
        await servers.aclose()


async def test_a_session_that_an_http_server_has_forgotten_is_begun_anew() -> None:
    """The call was not run, so it is made in a new session; every request carries the caller's headers."""
    forgetful = Forgetful()
    async with on_loopback(forgetful.app()) as port:
        hub = McpHttpServer("hub", f"http://127.0.0.1:{port}/mcp", headers={"X-Own": "mine"})
        async with McpServers([hub]) as servers:
            assert (await called(servers, "mcp.hub.whoami")).output == "session-1"
            forgetful.forgotten.add("session-1")
            assert (await called(servers, "mcp.hub.whoami")).output == "session-2"
            assert forgetful.headers["x-own"] == "mine"


async def test_a_refusal_over_http_is_told_by_its_status() -> None:
    """It costs the one call; the session goes on."""
    async with on_loopback(Forgetful().app()) as port:
        servers = McpServers([McpHttpServer("hub", f"http://127.0.0.1:{port}/mcp")])
        await servers.start()
        refused = await called(servers, "mcp.hub.refuse")
        assert refused.is_error
        assert "it answered HTTP 503" in refused.text
        assert (await called(servers, "mcp.hub.whoami")).output == "session-1"
        await servers.aclose()


async def test_closing_works_from_any_task_and_ends_calls() -> None:
    """A call that runs then fails, and so does every later one."""
    servers = McpServers([rough()])
    await servers.start()
    hanging = asyncio.create_task(called(servers, "mcp.rough.hang"))
    await called(servers, "mcp.rough.count")
    await asyncio.gather(asyncio.create_task(servers.aclose()), servers.aclose())
    assert "it was closed" in (await hanging).text
    assert "it was closed; go on without" in (await called(servers, "mcp.rough.count")).text


async def test_closing_ends_a_start() -> None:
    """A server that never answers holds up nobody who closes."""
    connection = Connection(rough("--mute"), start_timeout=50)
    starting = asyncio.create_task(connection.listed())
    await asyncio.sleep(0)
    await asyncio.wait_for(connection.aclose(), 8)
    with pytest.raises(McpServerDown, match="it was closed"):
        await starting


async def test_calls_may_come_from_another_loop() -> None:
    """As the blocking facade's do."""
    async with McpServers([rough()]) as servers:
        found: list[ToolResult] = []
        thread = threading.Thread(target=lambda: found.append(asyncio.run(called(servers, "mcp.rough.count"))))
        thread.start()
        await asyncio.to_thread(thread.join)
    assert [each.output for each in found] == ["call 1 with {}"]


def test_the_sdk_is_an_extra() -> None:
    """Without it the error says what to install; `antiphon.tools` loads it only where servers are started."""
    program = """
import asyncio, sys
from antiphon.errors import MissingExtra
from antiphon.tools import McpServers
assert not {"mcp", "mcp_types"} & sys.modules.keys()
sys.modules["mcp"] = None
try:
    asyncio.run(McpServers.from_config({"mcpServers": {}}).start())
except MissingExtra as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'antiphon[mcp]'" in ran.stdout
