import { errorMessage } from '../../../core/errors.ts';
import { writeOutput } from '../../ctl/output/write-output.ts';
import type { CobraCall, CobraCommand, CobraProgram } from './command.ts';
import { FatalLine, SilentFailure } from './failures.ts';
import { FlagValues } from './flag-values.ts';
import { type FoundCommand, findCommand } from './found-command.ts';
import { type ParsedFlags, parseFlags } from './parse-flags.ts';
import { helpText, usageText } from './usage.ts';

/**
 * Runs the command that the words name, like cobra: prints help to stdout, and an error with the
 * usage to stderr. Sets the exit code of the process. Never rejects.
 */
export async function execute(
  program: CobraProgram,
  words: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { found, rest } = await findCommand(program, words);
  try {
    await run(found, rest, signal);
  } catch (error) {
    process.exitCode = 1;
    if (error instanceof SilentFailure) return;
    process.stderr.write(
      error instanceof FatalLine
        ? `${error.message}\n`
        : `Error: ${errorMessage(error)}\n${usageText(found)}\n`,
    );
  }
}

async function run(
  found: FoundCommand,
  words: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { command, row } = found;
  if (command.deprecated !== undefined) {
    process.stderr.write(`Command "${row.name}" is deprecated, ${command.deprecated}\n`);
  }
  const { args, values, warnings } = parsed(found, words);
  process.stderr.write(warnings.join(''));
  if (values.bool('help') || command.run === undefined) {
    await writeOutput([helpText(found)], process.stdout);
    return;
  }
  checkArguments(found, args, values);
  await command.run({ args, flags: values, path: found.path, signal } satisfies CobraCall);
}

function parsed({ command, flags }: FoundCommand, words: readonly string[]): ParsedFlags {
  if (command.keepsFlags !== true) return parseFlags(words, flags);
  return { args: words, values: new FlagValues(flags), warnings: [] };
}

function checkArguments(
  { command, path, flags }: FoundCommand,
  args: readonly string[],
  values: FlagValues,
): void {
  const wrong = command.args?.(args, path);
  if (wrong !== undefined) throw new Error(wrong);
  const missing = flags.filter(({ required, name }) => required === true && !values.changed(name));
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join('", "');
    throw new Error(`required flag(s) "${names}" not set`);
  }
  checkExclusive(command, values);
}

function checkExclusive({ exclusive = [] }: CobraCommand, values: FlagValues): void {
  for (const group of exclusive) {
    const set = group.filter((name) => values.changed(name)).toSorted();
    if (set.length < 2) continue;
    throw new Error(
      `if any flags in the group [${group.join(' ')}] are set none of the others can be; [${set.join(' ')}] were all set`,
    );
  }
}
