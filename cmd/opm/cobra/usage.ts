import { goQuote } from '../../../api/go-quote.ts';
import type { CobraFlag, CobraRow } from './command.ts';
import type { FoundCommand } from './found-command.ts';

/** The output of `--help`, by cobra's template. */
export function helpText(found: FoundCommand): string {
  const about = (found.command.long ?? found.row.short).trimEnd();
  return `${about === '' ? '' : `${about}\n\n`}${usageText(found)}`;
}

/** The usage after an error about the command line, by cobra's template. */
export function usageText(found: FoundCommand): string {
  return [
    'Usage:',
    found.command.run === undefined ? '' : `\n  ${useLine(found)}`,
    listedCommands(found).length === 0 ? '' : `\n  ${found.path} [command]`,
    found.command.example === undefined ? '' : `\n\nExamples:\n${found.command.example}`,
    commandList(found),
    flagList('Flags', found.localFlags),
    flagList('Global Flags', found.inheritedFlags),
    listedCommands(found).length === 0
      ? ''
      : `\n\nUse "${found.path} [command] --help" for more information about a command.`,
    '\n',
  ].join('');
}

function useLine({ rows, command, flags }: FoundCommand): string {
  const above = rows.slice(0, -1).map(({ name }) => name);
  const line = [...above, command.use].join(' ');
  return flags.some(shownFlags) && !line.includes('[flags]') ? `${line} [flags]` : line;
}

export function listedCommands({ row }: FoundCommand): readonly CobraRow[] {
  return (row.commands ?? [])
    .filter(({ hidden }) => hidden !== true)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const leastNamePadding = 11;

function commandList(found: FoundCommand): string {
  const rows = listedCommands(found);
  if (rows.length === 0) return '';
  const lengths = (found.row.commands ?? []).map(({ name }) => name.length);
  const padding = Math.max(leastNamePadding, ...lengths);
  const lines = rows.map(({ name, short }) => `\n  ${name.padEnd(padding)} ${short}`);
  return `\n\nAvailable Commands:${lines.join('')}`;
}

function flagList(title: string, flags: readonly CobraFlag[]): string {
  const shown = flags.filter(shownFlags).map((flag) => ({ head: flagHead(flag), flag }));
  if (shown.length === 0) return '';
  const width = Math.max(...shown.map(({ head }) => head.length)) + 3;
  const lines = shown.map(({ head, flag }) => {
    const about = `${valueName(flag).usage}${defaultText(flag)}`;
    return head.padEnd(width) + about.replaceAll('\n', `\n${' '.repeat(width)}`);
  });
  return `\n\n${title}:\n${lines.join('\n').trimEnd()}`;
}

export function shownFlags({ hidden, deprecated }: CobraFlag): boolean {
  return hidden !== true && deprecated === undefined;
}

function flagHead(flag: CobraFlag): string {
  const names =
    flag.short === undefined ? `      --${flag.name}` : `  -${flag.short}, --${flag.name}`;
  const { name } = valueName(flag);
  return name === '' ? names : `${names} ${name}`;
}

const kindNames = { bool: '', string: 'string', strings: 'strings', uint: 'uint' } as const;

/** A word in back quotes names the value, as in pflag. */
function valueName({ usage, kind }: CobraFlag): { readonly name: string; readonly usage: string } {
  const [quoted, name] = /`([^`]*)`/.exec(usage) ?? [];
  if (quoted === undefined || name === undefined) return { name: kindNames[kind], usage };
  return { name, usage: usage.replace(quoted, () => name) };
}

function defaultText({ kind, default: value = '' }: CobraFlag): string {
  if (value === '' || (value === 'false' && kind === 'bool')) return '';
  return ` (default ${kind === 'string' ? goQuote(value) : value})`;
}
