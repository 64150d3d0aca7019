#!/usr/bin/env python3
"""Writes the manual page of etch and its completions for bash, zsh and fish, from what `etch COMMAND --help` prints: CLI11
makes that from the definitions of the options, so nothing here can be out of date. The build calls it for packages.

    tools/make_manual.py build/release/bin/etch FOLDER    # etch.1, etch.bash, _etch, etch.fish
"""

import dataclasses
import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r"^  (-[^\s]+)\s*(.*)$")
COMMAND = re.compile(r"^  ([a-z-]+)\s{2,}(.*)$")
CONTINUED = re.compile(r"^ {20,}(\S.*)$")


@dataclasses.dataclass
class Option:
    names: list[str]
    value: str  # "DIR", empty for a flag
    help: str


@dataclasses.dataclass
class Command:
    name: str  # "golden record", empty for the program
    about: str
    options: list[Option]
    commands: list[tuple[str, str]]
    takes_files: bool
    footer: list[str]


def printed(program: str, name: str) -> list[str]:
    words = [program, *name.split(), "--help"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.rstrip().splitlines()


def option(head: str, rest: str) -> Option:
    """From "-o,--output" and "DIR REQUIRED    folder to write to"."""
    rest = re.sub(r"^Needs: \S+ ?|REQUIRED ?", "", rest)
    value, _, text = rest.partition("  ") if not rest.startswith("  ") else ("", "", rest)
    if not text and (len(head) > 27 or value.endswith("...")):
        return Option(head.split(","), value, "")  # what it does is in the next line
    if not text:
        value, text = "", value
    return Option(head.split(","), value.strip(), text.strip())


def read(program: str, name: str) -> Command:
    lines = printed(program, name)
    command = Command(name, lines[0], [], [], False, [])
    section = ""
    for line in lines[1:]:
        if line and not line.startswith(" "):
            known = line == "Positionals:" or (line.endswith(":") and not line.startswith("Example"))
            section = line if known else "" if line.startswith("Usage:") else "footer"
        if section == "footer":
            command.footer.append(line)
        elif section == "Positionals:" and "FILE" in line:
            command.takes_files = True
        elif section and (found := OPTION.match(line)):
            command.options.append(option(found[1], found[2]))
        elif section and (found := COMMAND.match(line)):
            command.commands.append((found[1], found[2]))
        elif section and (found := CONTINUED.match(line)) and command.commands:
            name, about = command.commands[-1]
            command.commands[-1] = (name, f"{about} {found[1]}")
        elif section and (found := CONTINUED.match(line)) and command.options:
            command.options[-1].help = (command.options[-1].help + " " + found[1]).strip()
    return command


def read_all(program: str) -> list[Command]:
    found, names = [], [""]
    while names:
        command = read(program, names.pop(0))
        if not command.name or command.commands:
            names += [f"{command.name} {each}".strip() for each, _ in command.commands]
        found.append(command)
    return found


def roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def manual(commands: list[Command], version: str) -> str:
    root = commands[0]
    out = [f'.TH ETCH 1 "" "{version}"', ".SH NAME", f"etch \\- {roff(root.about.rstrip('.'))}", ".SH SYNOPSIS"]
    out += [".B etch", "COMMAND [OPTIONS] [MODEL]", ".SH DESCRIPTION", roff(root.about), ".SH OPTIONS"]
    for command in commands:
        if command.name:
            out += [f".SH ETCH {roff(command.name.upper())}", roff(command.about) + "."]
        for each in command.options:
            value = f" \\fI{roff(each.value)}\\fR" if each.value else ""
            out += [".TP", f"\\fB{roff(', '.join(each.names))}\\fR{value}", roff(each.help)]
        if command.name and command.footer:
            out += [".PP", ".nf", *(roff(line) for line in command.footer), ".fi"]
    out += [".SH EXAMPLES AND EXIT CODES", ".nf", *(roff(line) for line in root.footer), ".fi"]
    return "\n".join(out) + "\n"


def words(command: Command) -> str:
    options = [name for each in command.options for name in each.names]
    return " ".join([name for name, _ in command.commands] + options)


def bash(commands: list[Command]) -> str:
    cases = "\n".join(f'    "{each.name}") words="{words(each)}" ;;' for each in commands)
    nested = "|".join(each.name for each in commands if each.name and each.commands) or "-"
    return f"""# Completion of etch for bash. Made by tools/make_manual.py.
_etch() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" command="" word words=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command" in
      "") [[ $word == -* ]] || command=$word ;;
      {nested}) [[ $word == -* ]] || {{ command="$command $word"; break; }} ;;
      *) break ;;
    esac
  done
  case "$command" in
{cases}
  esac
  if [[ $current == -* || -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "${{words//-*/}}" -- "$current"; compgen -f -- "$current")
  fi
}}
complete -o filenames -F _etch etch
"""


def quoted(text: str, special: str) -> str:
    return "".join("\\" + each if each in special else each for each in text).replace("'", "'\\''")


def zsh(commands: list[Command]) -> str:
    out = ["#compdef etch", "# Completion of etch for zsh. Made by tools/make_manual.py.", "_etch() {"]
    out += ["  local command=${words[2]}", "  if (( CURRENT == 2 )); then", "    local -a commands=("]
    out += [f"      '{name}:{quoted(about, ':')}'" for name, about in commands[0].commands]
    out += ["    )", "    _describe command commands", "    return", "  fi", '  case "$command" in']
    for command in commands[1:]:
        if " " in command.name:
            continue
        out.append(f"    {command.name}) _arguments \\")
        for each in command.options:
            value = f":{quoted(each.value, ':[]')}:_files" if each.value else ""
            out += [f"      '*{name}[{quoted(each.help, '[]:')}]{value}' \\" for name in each.names]
        rest = " ".join(name for name, _ in command.commands)
        out.append(f"      '*:argument:({rest})' ;;" if rest else "      '*:file:_files' ;;")
    return "\n".join([*out, "  esac", "}", '_etch "$@"']) + "\n"


def fish(commands: list[Command]) -> str:
    out = ["# Completion of etch for fish. Made by tools/make_manual.py."]
    for name, about in commands[0].commands:
        out.append(f"complete -c etch -n __fish_use_subcommand -f -a {name} -d '{quoted(about, '')}'")
    for command in commands[1:]:
        first, _, second = command.name.partition(" ")
        seen = f"__fish_seen_subcommand_from {first}" + (f"; and __fish_seen_subcommand_from {second}" if second else "")
        for name, about in command.commands:
            out.append(f"complete -c etch -n '{seen}' -f -a {name} -d '{quoted(about, '')}'")
        for each in command.options:
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in each.names)
            takes = " -r" if each.value else ""
            out.append(f"complete -c etch -n '{seen}' {names}{takes} -d '{quoted(each.help, '')}'")
    return "\n".join(out) + "\n"


def main() -> None:
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    commands = read_all(program)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "etch.1").write_text(manual(commands, version))
    (folder / "etch.bash").write_text(bash(commands))
    (folder / "_etch").write_text(zsh(commands))
    (folder / "etch.fish").write_text(fish(commands))


if __name__ == "__main__":
    main()
