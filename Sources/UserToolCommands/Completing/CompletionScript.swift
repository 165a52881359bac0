import ArgumentParser

/// A shell's completion script: the parser's, with replacements for functions that are unsafe or do not work.
///
/// Each replacement passes the tool an empty word, which distinguishes this script from the parser's own; the text that readline
/// replaces; and the line up to the cursor. A test for each shell fails if the parser renames its functions.
enum CompletionScript {
  static func text(for shell: CompletionShell) -> String {
    let script = UserTool.completionScript(for: shell)
    switch shell {
    case .bash: return script + bash
    // Before the last lines of the parser's script for zsh, which run it.
    case .zsh: return script.replacing("\n_usertool() {", with: zsh + "\n_usertool() {")
    default: return script + fish
    }
  }

  /// Avoids compgen -W, which expands its list like a command line and would run code in a name.
  ///
  /// The tool quotes the words, because readline quotes only file names: it would treat a user's name as one, append a slash if
  /// there is a folder of that name, and leave ~ unquoted.
  private static let bash = #"""

    __usertool_custom_complete() {
        "${COMP_WORDS[0]}" "${@:1:$#-2}" 0 0 '' "${cur}" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null
    }

    __usertool_add_completions() {
        local completion
        if [[ "${1}" = -W ]]; then
            while IFS='' read -r completion; do
                if [[ -n "${completion}" && "${completion}" = "${cur}"* ]]; then COMPREPLY+=("${completion}"); fi
            done <<<"${2}"
        else
            while IFS='' read -r completion; do COMPREPLY+=("${completion}"); done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
            compopt -o filenames 2>/dev/null
        fi
    }

    # bash also splits words at :, = and @, which occur in names; the parser counts words.
    # No space follows an attribute's name, because its value does.
    _usertool_values() {
        local rest="${COMP_LINE}" word
        local -a whole=()
        for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
            if [[ ${#whole[@]} -eq 0 || "${rest}" = [[:space:]]* ]]; then whole+=(''); fi
            rest="${rest#"${rest%%[![:space:]]*}"}"
            rest="${rest:${#word}}"
            whole[${#whole[@]}-1]+="${word}"
        done
        local -a COMP_WORDS=("${whole[@]}")
        local -i COMP_CWORD=$((${#whole[@]} - 1))
        _usertool "${1}" "${2}" "${COMP_WORDS[COMP_CWORD > 0 ? COMP_CWORD - 1 : 0]}"
        if [[ "${COMPREPLY[0]}" = *= ]]; then compopt -o nospace 2>/dev/null; fi
    }
    complete -F _usertool_values usertool
    """#

  /// Avoids _describe, which treats the text after a colon as a description.
  ///
  /// compadd quotes the words; it quotes `!` only with banghist, which the parser turns off.
  private static let zsh = #"""

    __usertool_custom_complete() {
        local -a completions values
        completions=("${(@f)"$("${command_name}" "${@:1:-2}" 0 0 '' '' "${LBUFFER}" 2>/dev/null)"}")
        completions=("${(@)completions:#( |)}")
        values=("${(@M)completions:#*=}")
        completions=("${(@)completions:#*=}")
        setopt localoptions banghist
        compadd -- "${completions[@]}"
        compadd -S '' -- "${values[@]}"
    }

    """#

  /// Leaves the quoting to fish; in fish 3, the parser's call for the cursor position is an error.
  private static let fish = #"""

    function __usertool_tokens
        if test "$argv" = -tC
            echo 0
        else if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
            commandline --tokens-raw $argv
        else
            commandline -o $argv
        end
    end

    function __usertool_custom_completion
        set -lx SAP_SHELL fish
        set -lx SAP_SHELL_VERSION $FISH_VERSION
        set -l tokens (__usertool_tokens -pc)
        command $tokens[1] $argv[..-3] 0 0 '' '' (commandline -cp | string collect) 2>/dev/null
    end
    """#
}
