import { Command, type Option } from 'commander';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import type { Resource } from '../../core/platform/kube/index.ts';
import type { ClusterFlags } from './flags.ts';
import type { OperatorName } from './operator/complete-names.ts';
import { writeOutput } from './output/output.ts';

/** Instructions for the shell besides the candidates, by cobra's numbers. */
const directive = { files: 0, nothing: 4, directories: 16 } as const;

interface Candidate {
  readonly text: string;
  readonly description?: string;
}

interface Completion {
  readonly candidates: readonly Candidate[];
  readonly directive: number;
}

/** What the cluster completes: objects of a kind, or something of operators. */
type CompletedName = Resource | OperatorName;

interface TypedFlags extends ClusterFlags {
  readonly [flag: string]: unknown;
}

interface NameRequest {
  readonly what: CompletedName;
  readonly flags: TypedFlags;
  /** Arguments before the last word. */
  readonly positionals: readonly string[];
}

type NameLookUp = (request: NameRequest) => Promise<readonly string[]>;

/** Arguments, and values of flags, that are such names, by their names in the commands' usage. */
const namedValues: ReadonlyMap<string, CompletedName> = new Map<string, CompletedName>([
  ['bundleDeploymentName', bundleDeploymentResource],
  ['bundleName', bundleResource],
  ['packageName', 'package'],
  ['operatorName', 'operator'],
  ['channelName', 'channel'],
  ['versionOrRange', 'version'],
  ['versionRange', 'version'],
]);
const directories: ReadonlySet<string> = new Set(['bundleDir']);

/** The hidden command that completion scripts and kubectl call. */
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

/** The candidates for the last word. */
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
  const ask = { flags: Object.fromEntries(values), positionals };
  if (pending !== undefined) return await valuesOf(pending, ask, lookUp);
  if (last.startsWith('-')) return only(flagsOf(command));
  if (command.commands.length > 0) return only(commandsOf(command));
  const all = command.registeredArguments;
  const argument = all[positionals.length] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
  if (argument === undefined) return only([]);
  const name = argument.name();
  const what = namedValues.get(name);
  if (what !== undefined) return await named({ what, ...ask }, lookUp);
  if (directories.has(name)) return { candidates: [], directive: directive.directories };
  return choicesOr(argument.argChoices, directive.files);
}

async function valuesOf(
  option: Option,
  ask: Omit<NameRequest, 'what'>,
  lookUp: NameLookUp,
): Promise<Completion> {
  const what = namedValues.get(placeholderOf(option));
  if (what === undefined) return choicesOr(option.argChoices, directive.files);
  return await named({ what, ...ask }, lookUp);
}

async function named(request: NameRequest, lookUp: NameLookUp): Promise<Completion> {
  const names = await lookUp(request).catch(() => []);
  return only(names.map((text) => ({ text })));
}

/** `versionRange` of `--version <versionRange>`. */
function placeholderOf({ flags }: Option): string {
  return /<(\w+)>/.exec(flags)?.[1] ?? '';
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

/** The meaning of the words before the one to complete. */
class TypedWords {
  /** The command that they name. */
  command: Command;
  readonly positionals: string[] = [];
  /** Values of options by their names in actions. */
  readonly values = new Map<string, string>();
  /** The option whose value comes next. */
  pending: Option | undefined;

  constructor(program: Command, words: readonly string[]) {
    this.command = program;
    for (const word of words) this.#take(word);
  }

  #take(word: string): void {
    const option = this.pending;
    if (option !== undefined) {
      this.values.set(option.attributeName(), word);
      this.pending = undefined;
    } else if (word.startsWith('-')) {
      this.#takeFlag(word);
    } else {
      this.#takeName(word);
    }
  }

  #takeFlag(word: string): void {
    const [flag = '', value] = word.split(/=(.*)/s);
    const option = this.command.options.find(({ long, short }) => long === flag || short === flag);
    if (option === undefined || option.isBoolean() || option.optional) return;
    if (value === undefined) this.pending = option;
    else this.values.set(option.attributeName(), value);
  }

  #takeName(word: string): void {
    const next = this.command.commands.find((each) =>
      [each.name(), ...each.aliases()].includes(word),
    );
    if (next !== undefined && this.positionals.length === 0) this.command = next;
    else this.positionals.push(word);
  }
}

/** Milliseconds that a shell waits. */
const patience = 3_000;

/** The names that the cluster has, for completion. */
async function namesOf({ what, flags, positionals }: NameRequest): Promise<readonly string[]> {
  if (typeof what === 'string') {
    const { operatorNames } = await import('./operator/complete-names.ts');
    return await operatorNames(what, { flags, name: positionals[0] ?? '', patience });
  }
  const { withCluster } = await import('./cluster.ts');
  return await withCluster(flags, async ({ client }) => {
    const { items } = await client.list(what, { signal: AbortSignal.timeout(patience) });
    return items.flatMap(({ metadata }) => metadata.name ?? []);
  });
}
