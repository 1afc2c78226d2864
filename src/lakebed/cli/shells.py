"""Complete command lines in bash, zsh and fish: the scripts for the shells, and what these ask and are answered.

A script sends the line up to the cursor in the variable `LAKEBED_LINE`. The answer is a line for each proposal (three
for zsh): its kind (`plain`, or `file` and `dir` where the shell itself completes paths), its text, and what it means.
Names come from a warehouse that others write to as well, so all that would be more than text to the shell is quoted.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class, split_arg_string

from lakebed.printable import one_line

#: Set by the scripts; click asks for completions where it is set.
VARIABLE = "_LAKEBED_COMPLETE"
LINE = "LAKEBED_LINE"
BREAKS = "LAKEBED_BREAKS"

_BASH = """\
# Completion of lakebed for bash 4.4 or newer.
%(complete_func)s() {
    local found=() line
    mapfile -t found < <(LAKEBED_LINE="${COMP_LINE:0:COMP_POINT}" LAKEBED_BREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "${1/#\\~/$HOME}" 2>/dev/null)
    COMPREPLY=()
    for line in "${found[@]}"; do
        case ${line%%%%,*} in
            plain) COMPREPLY+=("${line#*,}") ;;
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
        esac
        [[ $line == *[:@=] ]] && compopt -o nospace
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH = """\
#compdef %(prog_name)s
# Completion of lakebed for zsh.
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }

%(complete_func)s() {
    local -a found values openings described
    local kind value meaning
    found=("${(@f)$(LAKEBED_LINE="${(j: :)words[1,CURRENT]}" \\
        %(complete_var)s=zsh_complete ${(Q)words[1]/#\\~/$HOME} 2>/dev/null)}")
    [[ $PREFIX == --*=* ]] && compset -P 1 '*='
    for kind value meaning in $found; do
        case $kind in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            plain)
                if [[ $value == *[:@=] ]]; then openings+=("$value")
                elif [[ $meaning == _ ]]; then values+=("$value")
                else described+=("${value//:/\\\\:}:$meaning")
                fi ;;
        esac
    done
    (( $#described )) && _describe -V lakebed described -U
    (( $#values )) && compadd -U -V lakebed -a values
    (( $#openings )) && compadd -U -V lakebed -S '' -a openings
    return 0
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""

_FISH = """\
# Completion of lakebed for fish.
function %(complete_func)s
    set -l word (commandline -ct | string replace -r '^--[^=]*=' '')
    set -lx LAKEBED_LINE (commandline -cp | string collect)
    for line in (%(complete_var)s=fish_complete %(prog_name)s 2>/dev/null)
        set -l parts (string split -m 1 , -- $line)
        switch $parts[1]
            case dir
                __fish_complete_directories $word
            case file
                __fish_complete_path $word
            case plain
                printf '%%s\\n' $parts[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments '(%(complete_func)s)'
"""


@dataclass(frozen=True, slots=True)
class Line:
    """A command line up to the cursor.

    `words` are those before the one that is being written, without the program's name; `raw` is that word as it stands
    there, `quote` the quote in it that is still open, if any.
    """

    words: tuple[str, ...]
    word: str
    raw: str
    quote: str

    @classmethod
    def parse(cls, text: str) -> Line:
        """The line that a shell sends. What stands before the program's name, as `A=b`, is passed over."""
        start, quote = _last_word(text)
        raw = text[start:]
        words = split_arg_string(text[:start])
        while words and re.match(r"\w+=", words[0]):
            del words[0]
        return cls(tuple(words[1:]), next(iter(split_arg_string(raw)), ""), raw, quote)

    @property
    def option(self) -> str:
        """`--name=` where the word gives a value to an option in this form."""
        found = re.match(r"--[^=]*=", self.word)
        return found[0] if found else ""


def _last_word(text: str) -> tuple[int, str]:
    """Where the last word begins, and the quote in it that is still open."""
    start, quote, is_escaped = 0, "", False
    for i, char in enumerate(text):
        if is_escaped:
            is_escaped = False
        elif char == "\\" and quote != "'":
            is_escaped = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char.isspace():
            start = i + 1
    return start, quote


class _Complete(ShellComplete):
    """What the three shells have in common. Proposals that no shell shows as they are, are not made."""

    def get_completion_args(self) -> tuple[list[str], str]:
        self._line = Line.parse(os.environ.get(LINE, ""))
        return list(self._line.words), self._line.word

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        if args and re.match(r"--[^=]+$", args[-1]) and not incomplete.startswith("-"):
            # An option that lacks its value keeps click from looking at the arguments before it.
            incomplete = f"{args.pop()}={incomplete}"
        found = super().get_completions(args, incomplete)
        return [item for item in found if one_line(item.value) == item.value]


class _Bash(_Complete):
    """Bash replaces what follows the last of its word breaks, and takes a proposal as it would be typed."""

    name = "bash"
    source_template = _BASH

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        found = super().get_completions(args, incomplete)
        return [item for item in found if item.type != "plain" or self._typed(item.value)]

    def format_completion(self, item: CompletionItem[str]) -> str:
        return f"{item.type},{self._typed(item.value) if item.type == 'plain' else ''}"

    def _typed(self, value: str) -> str | None:
        """The part of a proposal that takes the place of the word from its last break on; None if it cannot be said."""
        line = self._line
        if line.quote:
            # In an open quote nothing breaks words.
            return None if set(value) & set("'" if line.quote == "'" else '"$`\\!') else value
        whole = f"{line.option}{value}"
        breaks = set(os.environ.get(BREAKS, "")) & set("@:=")
        # Readline has an `@` that breaks a word replaced, too.
        kept = max((line.word.rfind(c) + (c != "@") for c in breaks), default=0)
        return re.sub(r"([^\w@%+=:,./-])", r"\\\1", whole[max(kept, 0) :])


class _Zsh(_Complete):
    """Zsh quotes by itself."""

    name = "zsh"
    source_template = _ZSH

    def format_completion(self, item: CompletionItem[str]) -> str:
        return f"{item.type}\n{item.value or '_'}\n{one_line(item.help or '_')}"


class _Fish(_Complete):
    """Fish quotes by itself."""

    name = "fish"
    source_template = _FISH

    def format_completion(self, item: CompletionItem[str]) -> str:
        meaning = f"\t{one_line(item.help)}" if item.help else ""
        return f"{item.type},{self._line.option}{item.value}{meaning}"


SHELLS: dict[str, type[ShellComplete]] = {each.name: each for each in (_Bash, _Zsh, _Fish)}


def register_shells() -> None:
    """Let click answer these shells in this way."""
    for each in SHELLS.values():
        add_completion_class(each)


def script(shell: str, program: click.Command) -> str:
    """What a shell runs to complete `lakebed`, whose root is `program`."""
    return SHELLS[shell](program, {}, "lakebed", VARIABLE).source()
