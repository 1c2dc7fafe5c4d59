import { Argument, Command } from 'commander';
import { writeOutput } from './output/output.ts';

/** `rukpakctl completion`: a script that the shell evaluates at its start. */
export function completionCommand(): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'Name of the shell').choices(shells))
    .addHelpText('after', `\n${startUp.join('\n')}`)
    .action(async (shell: Shell) => {
      await writeOutput([completionScript(shell, 'rukpakctl')], process.stdout);
    });
}

/** What a user adds to the start-up file of each shell. */
const startUp = [
  'bash, in ~/.bashrc: source <(rukpakctl completion bash)',
  'zsh, in ~/.zshrc: source <(rukpakctl completion zsh)',
  'fish, in ~/.config/fish/config.fish: rukpakctl completion fish | source',
] as const;

/** Shells with a completion script. */
const shells = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof shells)[number];

/**
 * The script with which a shell completes the arguments of `program`. It calls the program itself,
 * `__complete <words>`, in the protocol of cobra's programs: one candidate per line, a tab before
 * its description, and `:<directive>` as the last line.
 */
export function completionScript(shell: Shell, program: string): string {
  const name = `_${program.replaceAll(/\W/g, '_')}`;
  return scripts[shell].replaceAll('@name@', name).replaceAll('@program@', program);
}

const bash = `@name@() {
  local line directive=0
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) directive=\${line#:} ;;
      ?*) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(@program@ __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case $directive in
    0) compopt -o default ;;
    16) compopt -o dirnames ;;
  esac
}
complete -F @name@ @program@
`;

const zsh = `#compdef @program@
@name@() {
  local line directive=0
  local -a candidates
  while IFS= read -r line; do
    case $line in
      :*) directive=\${line#:} ;;
      ?*) candidates+=("\${\${line//:/\\\\:}/$'\\t'/:}") ;;
    esac
  done < <(@program@ __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#candidates} )) && _describe '@program@' candidates
  case $directive in
    0) _files ;;
    16) _files -/ ;;
  esac
}
compdef @name@ @program@
`;

const fish = `function @name@
  set -l words (commandline -opc) (commandline -ct)
  set -l lines (@program@ __complete $words[2..-1] 2>/dev/null)
  set -l directive $lines[-1]
  string match -v -- ':*' $lines
  switch $directive
    case ':0'
      __fish_complete_path (commandline -ct)
    case ':16'
      __fish_complete_directories (commandline -ct)
  end
end
complete -c @program@ -f -a '(@name@)'
`;

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
