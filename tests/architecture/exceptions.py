"""The exceptions from the rules of shape, in one place, each with its reason. This list may only shrink.

A key is a rule's name and the place as the rule's message prints it in brackets. An exception that the source
no longer needs fails `test_exceptions_are_needed`: delete its line.
"""

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("wide-function", "src/antiphon/_trace.py::Layer.__init__"): "a layer is one value with all that is said of it",
}

LATE_IMPORTS: dict[str, str] = {
    "src/antiphon/__init__.py": "the table of public names: `import antiphon` loads nothing",
    "src/antiphon/chat/_late_calling.py": "what runs tools: a turn without calls loads none of it",
    "src/antiphon/tools/_tool.py": "what reads functions: a process without tools loads none of it",
    "src/antiphon/_lazy.py": "the tables of public names: who uses one name loads no other's code",
    "src/antiphon/_model_names.py": "the table of vendors: a model is imported when it is named",
    "src/antiphon/providers/local/_engine.py": "the optional extra `local`",
    "src/antiphon/providers/_transport.py": "httpx2, loaded by the first call: naming a model costs nothing",
    "src/antiphon/tools/_mcp.py": "the optional extra `mcp`",
    "src/antiphon/context/_families.py": "the optional extra `tokens`",
    "src/antiphon/cli/_subcommands.py": "the table of subcommands: `antiphon --help` loads none",
}
"""Files whose functions may import when they run, each with its reason: the tables of public names, vendors
and subcommands, and the optional extras."""

PUBLIC_MODULES: dict[str, str] = {
    "src/antiphon/errors.py": "an import path of its own: who catches errors imports nothing else",
    "src/antiphon/blocking.py": "an import path of its own: the blocking facade",
    "src/antiphon/model_names.py": "one function that users and every command call",
    "src/antiphon/cli/*.py": "a module is a subcommand and has its name",
}
"""Patterns of modules inside packages that carry no leading underscore, each with its reason."""
