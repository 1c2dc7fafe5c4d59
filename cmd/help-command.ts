import { Command } from 'commander';

export const helpFlagText = 'Show this help';

/** Replaces commander's lower-case text of `-h`, for a command and its subcommands. */
export function describeHelpFlag(command: Command): Command {
  for (const each of command.commands) describeHelpFlag(each);
  return command.helpOption('-h, --help', helpFlagText);
}

/**
 * `help [command...]`, with an error for an unknown command, for which commander would print the
 * help of the whole program.
 */
export function helpCommand(): Command {
  const help = new Command('help')
    .description('Show the help of a command')
    .argument('[command...]', 'Name of the command (default: all commands)');
  return help.action((words: readonly string[]) => {
    let shown = help.parent ?? help;
    for (const word of words) shown = commandNamed(shown, word);
    shown.outputHelp();
  });
}

function commandNamed(group: Command, word: string): Command {
  const isMeant = (each: Command): boolean => [each.name(), ...each.aliases()].includes(word);
  const called = fullName(group);
  return (
    group.commands.find(isMeant) ??
    group.error(`error: unknown command '${word}': ${called} --help lists those of ${called}`)
  );
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}
