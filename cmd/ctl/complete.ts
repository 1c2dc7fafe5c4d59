import { Command } from 'commander';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import type { Resource } from '../../core/platform/kube/index.ts';
import type { ClusterFlags } from './cluster-flags.ts';
import { namesOf } from './object-names.ts';
import { TypedWords } from './typed-words.ts';
import { writeOutput } from './write-output.ts';

/** What the shell does beside offering the candidates; numbers of cobra. */
const directive = { files: 0, nothing: 4, directories: 16 } as const;

interface Candidate {
  readonly text: string;
  readonly description?: string;
}

interface Completion {
  readonly candidates: readonly Candidate[];
  readonly directive: number;
}

/** Names of objects of a kind that begin with what is typed. */
export type NameLookUp = (resource: Resource, flags: ClusterFlags) => Promise<readonly string[]>;

/** Arguments that name objects or directories, by the name that commands give them. */
const namedKinds: ReadonlyMap<string, Resource> = new Map<string, Resource>([
  ['bundleDeploymentName', bundleDeploymentResource],
  ['bundleName', bundleResource],
]);
const directories: ReadonlySet<string> = new Set(['bundleDir']);

/** The hidden command that completion scripts and kubectl ask. */
export function completeCommand(): Command {
  const command = new Command('__complete')
    .argument('[words...]')
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false);
  return command.action(async (words: readonly string[]) => {
    const { parent } = command;
    if (parent === null) return;
    const result = await complete(parent, words, namesOf);
    const lines = result.candidates.map(({ text, description }) =>
      description === undefined ? text : `${text}\t${description}`,
    );
    await writeOutput([[...lines, `:${result.directive}`, ''].join('\n')], process.stdout);
  });
}

/** What may stand in place of the last word. */
export async function complete(
  program: Command,
  words: readonly string[],
  lookUp: NameLookUp,
): Promise<Completion> {
  const last = words.at(-1) ?? '';
  const typed = new TypedWords(program, words.slice(0, -1));
  const { candidates, directive } = await offered(typed, last, lookUp);
  return { candidates: candidates.filter(({ text }) => text.startsWith(last)), directive };
}

async function offered(
  { command, positionals, values, pending }: TypedWords,
  last: string,
  lookUp: NameLookUp,
): Promise<Completion> {
  if (pending !== undefined) return choicesOr(pending.argChoices, directive.files);
  if (last.startsWith('-')) return only(flagsOf(command));
  if (command.commands.length > 0) return only(commandsOf(command));
  const all = command.registeredArguments;
  const argument = all[positionals.length] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
  if (argument === undefined) return only([]);
  const name = argument.name();
  const kind = namedKinds.get(name);
  if (kind !== undefined) {
    const names = await lookUp(kind, Object.fromEntries(values)).catch(() => []);
    return only(names.map((text) => ({ text })));
  }
  if (directories.has(name)) return { candidates: [], directive: directive.directories };
  return choicesOr(argument.argChoices, directive.files);
}

function choicesOr(choices: readonly string[] | undefined, otherwise: number): Completion {
  if (choices === undefined) return { candidates: [], directive: otherwise };
  return only(choices.map((text) => ({ text })));
}

function only(candidates: readonly Candidate[]): Completion {
  return { candidates, directive: directive.nothing };
}

function flagsOf(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ text: long, description }] : []));
}

function commandsOf(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ text: each.name(), description: each.description() }));
}
