package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// runCompletion prints a completion script, made of the flags that there are.
func runCompletion(_ context.Context, args []string, stdout, _ io.Writer) (int, error) {
	f := flagSet("loadgen completion", helpCompletion, stdout)
	shells, err := parseMixed(f, args)
	if err != nil {
		return exitUsage, err
	}
	scripts := map[string]func() string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
	if len(shells) != 1 || scripts[shells[0]] == nil {
		return exitUsage, usagef("want one shell: bash, zsh or fish")
	}
	_, err = io.WriteString(stdout, scripts[shells[0]]())
	return exitOK, err
}

// choices are the values of flags that have a few.
var choices = map[string][]string{
	"mode": {"batch", "callback", "blocking"}, "end": {"wait", "cut"},
	"framing": {"line", "headers", "length"}, "profile": {"mcp", "jsonrpc", "lsp"},
	"target": {"pipe:echo", "unix:", "tcp:", "ws://", "wss://", "http://", "https://", "exec:"}, "era": {"auto", "modern", "older"}, "listen": {"tcp:", "unix:", "ws:", "stdio"},
	"delay": {"const:", "exp:", "lognormal:", "pareto:"},
}

// files are the flags whose value is a file.
var files = []string{"o", "hdr", "hlog", "mix", "prelude", "html"}

// argument is what completes the first argument of a command.
var argument = map[string][]string{"completion": {"bash", "zsh", "fish"}, "help": nil}

// flagNames lists the flags of a command, with the dash.
func flagNames(c command) (names []string) {
	visit(c, func(f *flag.Flag) { names = append(names, "-"+f.Name) })
	return names
}

func visit(c command, each func(*flag.Flag)) {
	if c.flags != nil {
		c.flags().VisitAll(each)
	}
	each(&flag.Flag{Name: "h", Usage: "help"})
}

// commandWords are the names of all commands, with help as the last.
func commandWords() string { return strings.ReplaceAll(commandNames(), ",", "") }

func bashScript() string {
	var b strings.Builder
	b.WriteString(`# bash completion of loadgen: source <(loadgen completion bash)
_loadgen() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=run i flags=
  COMPREPLY=()
  # A colon breaks words in bash, so that a target is several of them.
  case ${COMP_WORDS[1]} in
`)
	for _, c := range commands() {
		fmt.Fprintf(&b, "    %s) command=%s ;;\n", c.name, c.name)
	}
	b.WriteString("    help) command=help ;;\n  esac\n  case $before in\n")
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		fmt.Fprintf(&b, "    -%s) COMPREPLY=($(compgen -W '%s' -- \"$current\")); return ;;\n", name, strings.Join(choices[name], " "))
	}
	for _, name := range files {
		fmt.Fprintf(&b, "    -%s) COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n", name)
	}
	b.WriteString("  esac\n  case $command in\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "    %s) flags='%s' ;;\n", c.name, strings.Join(flagNames(c), " "))
	}
	fmt.Fprintf(&b, "    help) flags='%s' ;;\n  esac\n", strings.ReplaceAll(commandWords(), " help", ""))
	fmt.Fprintf(&b, "  case $command in completion) flags=\"$flags %s\" ;; esac\n", strings.Join(argument["completion"], " "))
	fmt.Fprintf(&b, "  if [ \"$COMP_CWORD\" = 1 ]; then flags=\"%s $flags\"; fi\n", commandWords())
	b.WriteString(`  COMPREPLY=($(compgen -W "$flags" -- "$current"))
  if [ "$command" = compare ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}
complete -F _loadgen loadgen
`)
	return b.String()
}

func zshScript() string {
	var b strings.Builder
	b.WriteString("#compdef loadgen\n# zsh completion of loadgen: loadgen completion zsh > \"${fpath[1]}/_loadgen\"\n_loadgen() {\n  local -a commands flags\n  commands=(\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "    '%s:%s'\n", c.name, quoteColon(c.does))
	}
	b.WriteString("    'help:explain a command'\n  )\n  local command=run\n  case ${words[2]} in\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "    %s) command=%s ;;\n", c.name, c.name)
	}
	b.WriteString("    help) command=help ;;\n  esac\n  if (( CURRENT == 2 )); then _describe command commands; fi\n  case $command in\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "    %s) _arguments -S \\\n", c.name)
		visit(c, func(f *flag.Flag) {
			fmt.Fprintf(&b, "      '-%s[%s]%s' \\\n", f.Name, quoteBracket(f.Usage), zshValue(f))
		})
		switch {
		case argument[c.name] != nil:
			fmt.Fprintf(&b, "      '*:shell:(%s)'\n      ;;\n", strings.Join(argument[c.name], " "))
		case c.name == "compare":
			b.WriteString("      '*:run:_files'\n      ;;\n")
		default:
			b.WriteString("      '*::'\n      ;;\n")
		}
	}
	b.WriteString("    help) _describe command commands ;;\n  esac\n}\ncompdef _loadgen loadgen\n" +
		// Loaded by its name on the first completion, it is that completion too.
		"if [ \"$funcstack[1]\" = _loadgen ]; then _loadgen \"$@\"; fi\n")
	return b.String()
}

// zshValue is how the value of a flag is completed.
func zshValue(f *flag.Flag) string {
	switch {
	case choices[f.Name] != nil:
		values := []string{}
		for _, v := range choices[f.Name] {
			values = append(values, strings.ReplaceAll(v, ":", `\:`))
		}
		return ":" + f.Name + ":(" + strings.Join(values, " ") + ")"
	case slices.Contains(files, f.Name):
		return ":file:_files"
	case isSwitch(f):
		return ""
	}
	return ":" + f.Name + ":"
}

// isSwitch reports whether a flag has no value.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return f.Value == nil || ok && b.IsBoolFlag()
}

func quoteColon(text string) string {
	return strings.ReplaceAll(quote(text), ":", `\:`)
}

func quoteBracket(text string) string {
	return strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(quote(text))
}

// quote makes text safe between single quotes.
func quote(text string) string { return strings.ReplaceAll(text, "'", `'\''`) }

func fishScript() string {
	var b strings.Builder
	b.WriteString("# fish completion of loadgen: loadgen completion fish > ~/.config/fish/completions/loadgen.fish\ncomplete -c loadgen -f\n")
	names := commandWords()
	for _, c := range commands() {
		fmt.Fprintf(&b, "complete -c loadgen -n __fish_use_subcommand -a %s -d '%s'\n", c.name, fishQuote(c.does))
	}
	b.WriteString("complete -c loadgen -n __fish_use_subcommand -a help -d 'explain a command'\n")
	for i, c := range commands() {
		when := "'__fish_seen_subcommand_from " + c.name + "'"
		if i == 0 { // it is meant when none is named
			when = "'not __fish_seen_subcommand_from " + strings.TrimPrefix(names, c.name+" ") + "'"
		}
		visit(c, func(f *flag.Flag) {
			fmt.Fprintf(&b, "complete -c loadgen -n %s -o %s -d '%s'", when, f.Name, fishQuote(f.Usage))
			switch {
			case choices[f.Name] != nil:
				fmt.Fprintf(&b, " -x -a '%s'", strings.Join(choices[f.Name], " "))
			case slices.Contains(files, f.Name):
				b.WriteString(" -r -F")
			case !isSwitch(f):
				b.WriteString(" -x")
			}
			b.WriteString("\n")
		})
		switch {
		case argument[c.name] != nil:
			fmt.Fprintf(&b, "complete -c loadgen -n %s -a '%s'\n", when, strings.Join(argument[c.name], " "))
		case c.name == "compare":
			fmt.Fprintf(&b, "complete -c loadgen -n %s -F\n", when)
		}
	}
	fmt.Fprintf(&b, "complete -c loadgen -n '__fish_seen_subcommand_from help' -a '%s'\n", strings.ReplaceAll(names, " help", ""))
	return b.String()
}

func fishQuote(text string) string {
	return strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text)
}
