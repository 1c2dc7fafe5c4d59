import type {
  CatalogDiff,
  ChannelDiff,
  FieldChange,
  NamedChange,
  PackageDiff,
  Stranded,
} from '../../../../catalog/compare/index.ts';
import { type Colour, coloured } from '../../terminal/paint.ts';
import { counted } from '../../terminal/text.ts';

const signs = { added: '+', removed: '-', changed: '~' } as const;

/**
 * The diff as text: packages, other blobs, counts, and last the bundles that lose their upgrades.
 */
export function* diffLines({ packages, blobs, stranded }: CatalogDiff): Generator<string> {
  for (const each of packages) yield* packageLines(each);
  for (const each of blobs) yield `${signs[each.change]} blob ${each.name}`;
  yield packages.length + blobs.length === 0 ? 'no difference' : counts(packages);
  yield* strandedLines(stranded);
}

/** Colours a line by its leading sign. */
export function paintChanges(line: string): string {
  const sign = line.trimStart().slice(0, 2);
  const colour = colours.get(sign);
  if (colour !== undefined) return coloured(colour, line);
  return line.startsWith('stranded:') ? coloured('red', line) : line;
}

const colours: ReadonlyMap<string, Colour> = new Map([
  ['+ ', 'green'],
  ['- ', 'red'],
  ['! ', 'red'],
  ['~ ', 'cyan'],
]);

function* packageLines(diff: PackageDiff): Generator<string> {
  const { name, change, channels, bundles, deprecations, blobs } = diff;
  if (change !== 'changed') {
    const parts = [counted(channels.length, 'channel'), counted(bundles.length, 'bundle')];
    yield `${signs[change]} package ${name}: ${parts.join(', ')}`;
    return;
  }
  yield `~ package ${name}`;
  yield* indented(fieldLines(diff.fields));
  for (const each of channels) yield* indented(channelLines(each));
  for (const each of bundles) yield* indented(bundleLines(each));
  for (const each of deprecations) yield* indented(deprecationLines(each));
  for (const each of blobs) yield `  ${signs[each.change]} blob ${each.name}`;
}

function* channelLines({ name, change, entries, fields }: ChannelDiff): Generator<string> {
  if (change !== 'changed') {
    const head = fields.filter(({ field }) => field === 'head').map(valuesOf);
    yield `${signs[change]} channel ${name}: head ${head.join('')}, ${counted(entries.length, 'entry', 'entries')}`;
    return;
  }
  yield `~ channel ${name}`;
  yield* indented(fieldLines(fields));
  for (const entry of entries) yield* indented(entryLines(entry));
}

function* entryLines({ name, change, fields }: NamedChange): Generator<string> {
  if (change === 'changed') {
    yield `~ ${name}`;
    yield* indented(fieldLines(fields));
    return;
  }
  const edges = fields.map((each) => `, ${each.field} ${valuesOf(each)}`);
  yield `${signs[change]} ${name}${edges.join('')}`;
}

function* bundleLines({ name, change, fields }: NamedChange): Generator<string> {
  yield `${signs[change]} bundle ${name}`;
  if (change === 'changed') yield* indented(fieldLines(fields));
}

function* deprecationLines({ name, change, fields }: NamedChange): Generator<string> {
  if (change === 'changed') {
    yield `~ deprecation of ${name}`;
    yield* indented(fieldLines(fields));
  } else {
    yield `${signs[change]} deprecation of ${name}: ${fields.map(valuesOf).join('')}`;
  }
}

/** Values of a field whose object was added or removed. */
function valuesOf({ removed, added }: FieldChange): string {
  return [...removed, ...added].join(', ');
}

const lists = new Set(['properties', 'skips']);

function* fieldLines(fields: readonly FieldChange[]): Generator<string> {
  for (const { field, removed, added } of fields) {
    if ([...removed, ...added].some(isDigest) && !lists.has(field)) {
      yield `${field} changed`;
    } else if (lists.has(field)) {
      for (const item of removed) yield `- ${field}: ${item}`;
      for (const item of added) yield `+ ${field}: ${item}`;
    } else {
      yield `${field}: ${removed.join(', ') || 'none'} -> ${added.join(', ') || 'none'}`;
    }
  }
}

function isDigest(text: string): boolean {
  return /^sha256:[0-9a-f]{12}$/.test(text);
}

function* indented(texts: Iterable<string>): Generator<string> {
  for (const text of texts) yield `  ${text}`;
}

function counts(packages: readonly PackageDiff[]): string {
  const of = (change: string) => packages.filter((each) => each.change === change).length;
  return `packages: ${of('added')} added, ${of('removed')} removed, ${of('changed')} changed`;
}

/**
 * Groups stranded bundles by the end of their path: all bundles that upgrade over a removed edge
 * share one line.
 */
function* strandedLines(stranded: readonly Stranded[]): Generator<string> {
  if (stranded.length === 0) return;
  yield `stranded: ${counted(stranded.length, 'bundle')} without a path to the head of the channel`;
  const groups = Map.groupBy(stranded, ({ lastStep, ...each }) =>
    [each.package, each.channel, lastStep?.from ?? each.reason].join('\n'),
  );
  for (const group of groups.values()) {
    const [first, last] = [group[0], group.at(-1)];
    if (first === undefined || last === undefined) continue;
    const names = first === last ? first.bundle : `${first.bundle} to ${last.bundle}`;
    const count = group.length > 2 ? ` (${group.length})` : '';
    yield `  ! package ${first.package}, channel ${first.channel}: ${names}${count}: ${reason(first)}`;
  }
}

function reason({ reason: text, lastStep }: Stranded): string {
  if (text === 'channel invalid') return 'the new channel has no head, or several';
  if (lastStep === undefined) return text;
  const { from, to } = lastStep;
  return to === undefined
    ? `the new channel has no upgrade for ${from}`
    : `the upgrade from ${from} to ${to} is gone`;
}
