"""What files say about models, instructions and places, and who decides before them."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from antiphon.cli._configuration import configuration
from antiphon.cli._local_servers import ollama_models
from antiphon.cli._model_choice import chosen_model, scheme_is_known
from antiphon.cli._place import folder_of_chats
from tests.cli.running import Terminal


def users(terminal: Terminal, text: str) -> Path:
    """The user's own file."""
    file = terminal.home / ".config" / "antiphon" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def projects(folder: Path, text: str) -> Path:
    """A project's file."""
    (folder / ".antiphon").mkdir(parents=True)
    (folder / ".antiphon" / "config.toml").write_text(text, encoding="utf-8")
    return folder / ".antiphon"


def test_who_names_the_model(terminal: Terminal) -> None:
    """-m goes before the session's last model, that before ANTIPHON_MODEL, that before the file."""
    users(terminal, 'model = "nope:file"\n')
    assert "nope:file" in terminal.run("ask", "Hi").err
    assert "nope:env" in terminal.run("ask", "Hi", env={"ANTIPHON_MODEL": "nope:env"}).err
    terminal.ask("Hi")
    assert "model echo: ·" in terminal.run("ask", "-c", "Hi", env={"ANTIPHON_MODEL": "nope:env"}).err
    assert "nope:flag" in terminal.run("ask", "-c", "-m", "nope:flag", "Hi").err


def test_who_gives_the_instructions(terminal: Terminal) -> None:
    """-s goes before ANTIPHON_SYSTEM, that before the file; a session that goes on keeps its own, or none."""
    terminal.ask("Hi", "--session", "none")
    users(terminal, 'system = "file"\n')
    for session, more, env in (
        ("file", (), {}),
        ("env", (), {"ANTIPHON_SYSTEM": "env"}),
        ("flag", ("-s", "flag"), {"ANTIPHON_SYSTEM": "env"}),
        ("none", (), {"ANTIPHON_SYSTEM": "env"}),
    ):
        terminal.run("ask", "-m", "echo:", "Hi", "--session", session, *more, env=env)
        last = json.loads(terminal.run("show", session, "--json").out)[-1]
        assert last["options"].get("instructions", "none") == session


def test_the_projects_file_goes_before_the_users(tmp_path: Path) -> None:
    """What the nearest project's file says counts; what it does not say, the user's own file may."""
    folder = projects(tmp_path / "p", 'model = "a:"\n')
    own = tmp_path / "own" / "antiphon" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('model = "b:"\nsystem = "Be kind."\n', encoding="utf-8")
    found = configuration(environ={"XDG_CONFIG_HOME": str(tmp_path / "own")}, here=tmp_path / "p" / "src")
    assert found.model == ("a:", folder / "config.toml")
    assert found.system == ("Be kind.", own)


def test_a_store_in_a_file_is_beside_it(tmp_path: Path) -> None:
    """A relative store is meant from the file on; the user's own file does not take a project's sessions away."""
    folder = projects(tmp_path / "p", 'store = "mine"\n')
    other = projects(tmp_path / "q", "")
    own = tmp_path / "antiphon" / "config.toml"
    own.parent.mkdir()
    own.write_text('store = "/elsewhere"\n', encoding="utf-8")
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}

    def chosen(here: Path, **more: str) -> Path:
        said = configuration(environ=environ, here=here)
        return folder_of_chats(None, environ=environ | more, here=here, configured=said)

    assert chosen(folder.parent) == folder / "mine"
    assert chosen(other.parent) == other / "chats"
    assert chosen(tmp_path) == Path("/elsewhere")
    assert chosen(folder.parent, ANTIPHON_STORE="env") == Path("env")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('model = "a:"\nmodell = "b:"\n', 2, "'modell' is not known; known are model, store, system"),
        ("\n[models]\nx = 1\n", 2, "'models' is not known"),
        ('model = "a:"\nsystem = oops\n', 2, "not TOML: invalid value"),
        ('model = "a:\n', 1, "not TOML:"),
        ('model = "a"\nmodel = "b"\n', 2, "not TOML:"),
        ("\nmodel = 3\n", 2, "'model' must be text in quotes"),
        ("model = ''\n", 1, "'model' must be text in quotes"),
        ('# é\nmodel = "\udcff"\n', 2, "not UTF-8"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(terminal: Terminal, text: str, line: int, says: str) -> None:
    """A file that cannot be understood is refused in one sentence with its place, by every command that needs it."""
    file = users(terminal, "")
    file.write_bytes(text.encode(errors="surrogateescape"))
    for args in (["sessions"], ["ask", "-m", "echo:", "Hi"]):
        ran = terminal.run(*args)
        assert ran.code == 2
        assert ran.refusal.startswith(f"{file}, line {line}: {says}"), ran.refusal


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ('model = "anthropic:x"\napi_key = "sk-very-secret"', "ANTHROPIC_API_KEY"),
        ('\nopenai_api_key = "sk-very-secret"', "OPENAI_API_KEY"),
        ('\n[gemini]\nkey = "sk-very-secret"', "OPENAI_API_KEY"),
        ('\n"secret" = "sk-very-secret"', "OPENAI_API_KEY"),
    ],
)
def test_a_secret_is_refused(terminal: Terminal, text: str, variable: str) -> None:
    """A key in a file is refused with the variable that it belongs in, and is not repeated."""
    users(terminal, text)
    ran = terminal.run("ask", "-m", "echo:", "Hi")
    assert ran.code == 2
    assert "line 2: " in ran.refusal
    assert f"set it in the environment, as {variable}" in ran.refusal
    assert "sk-very" not in ran.refusal


def test_a_projects_choice_is_told(terminal: Terminal) -> None:
    """Where a project's file chose who answers, the heading says which one."""
    projects(terminal.home, 'model = "echo:"\n')
    ran = terminal.run_apart("ask", "Hi", cwd=terminal.home)
    assert ran.err.startswith("model echo: (named in ~/.antiphon/config.toml) · store")


def test_a_named_model_is_never_questioned() -> None:
    """Where a model is named, nobody is asked and nothing is looked for."""
    assert chosen_model("nope:", choose=lambda found: found[99]) == "nope:"


def test_schemes_are_known_without_a_name() -> None:
    """Whether a scheme exists can be told before there is a name to put behind it."""
    assert scheme_is_known("local")
    assert scheme_is_known("ollama")
    assert not scheme_is_known("nope")


@contextmanager
def serving(answer: bytes) -> Iterator[int]:
    """A server on this machine that always says the same; gives its port."""

    class Answering(http.server.BaseHTTPRequestHandler):
        """Says the same to everyone."""

        def do_GET(self) -> None:
            """Answer."""
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing beside it."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        (b'{"models": [{"name": "qwen3:0.6b"}, {"name": "a b\\u001b"}, {"name": "x/y"}]}', ["qwen3:0.6b", "x/y"]),
        (b"{}", []),
        (b"[1]", []),
        (b'{"models": 3}', []),
        (b"hello", []),
        (b"\xff", []),
    ],
)
def test_a_local_server_is_asked_what_it_holds(answer: bytes, names: list[str]) -> None:
    """The models of a local Ollama server are found; a server that is something else has none."""
    with serving(answer) as port:
        assert ollama_models(host="127.0.0.1", port=port) == names


def test_nobody_listening_costs_nothing() -> None:
    """Where no server runs there are no models, and no error."""
    with serving(b"") as port:
        pass
    assert ollama_models(host="127.0.0.1", port=port) == []
