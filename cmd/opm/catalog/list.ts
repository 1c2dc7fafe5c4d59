import { goQuote } from '../../../api/go-quote.ts';
import type { CatalogConfig } from '../../../catalog/blobs/index.ts';
import {
  CollectedGraph,
  type ListedPackage,
  listedBundles,
  listedChannels,
  listedPackages,
  type UpgradeGraph,
} from '../../../catalog/graph/index.ts';
import {
  type CatalogPart,
  catalogKinds,
  displayNameOf,
  KindNotAllowed,
  partsOfReference,
} from '../../../catalog/render/index.ts';
import { validateParts } from '../../../catalog/validate/index.ts';
import { errorMessage } from '../../../core/errors.ts';
import { writeOutput } from '../../ctl/output/output.ts';
import { visibleLine } from '../../ctl/terminal/text.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { exactArgs, rangeArgs } from '../cobra/positional-args.ts';
import { logrusFatal } from '../failures.ts';
import { systemAccess } from '../system-access.ts';
import { databaseWarning } from './migrate-level.ts';

const note = `NOTE: This is meant to be used for convenience and human-readability only. The
CLI and output format are subject to change, so it is not recommended to depend
on the output in any programs or scripts. Use the "render" subcommand to do
more complex processing and automation.`;

export const listCommand: CobraCommand = {
  use: 'list',
  long: `The list subcommands print the contents of an index.\n\n${note}`,
};

export const listPackagesCommand: CobraCommand = {
  use: 'packages <indexRef>',
  // Upstream names the wrong command.
  long: `The "channels" command lists the channels from the specified index.\n\n${note}`,
  args: exactArgs(1),
  run: async (call) => {
    const headings = ['NAME', 'DISPLAY NAME', 'DEFAULT CHANNEL'];
    await print(call, (graph) => [headings, ...listedPackages(graph).map(cellsOf)], displayNameOf);
  },
};

export const listChannelsCommand: CobraCommand = {
  use: 'channels <indexRef> [packageName]',
  long: `The "channels" command lists the channels from the specified index and package.\n\n${note}`,
  args: rangeArgs(1, 2),
  run: async (call) => {
    await print(call, (graph, owner) => [
      ['PACKAGE', 'CHANNEL', 'HEAD'],
      ...listedChannels(graph, owner).map((row) => [row.package, row.channel, row.heads.join()]),
    ]);
  },
};

export const listBundlesCommand: CobraCommand = {
  use: 'bundles <indexRef> <packageName>',
  long: `The "bundles" command lists the bundles from the specified index and package.
Bundles that exist in multiple channels are duplicated in the output (one
for each channel in which the bundle is present).

${note}`,
  args: rangeArgs(1, 2),
  run: async (call) => {
    await print(call, (graph, owner) => [
      ['PACKAGE', 'CHANNEL', 'BUNDLE', 'REPLACES', 'SKIPS', 'SKIP RANGE', 'IMAGE'],
      ...listedBundles(graph, owner).map((row) => [
        row.package,
        row.channel,
        row.name,
        row.replaces,
        row.skips.join(),
        row.skipRange,
        row.image,
      ]),
    ]);
  },
};

function cellsOf({ name, displayName, defaultChannel }: ListedPackage): readonly string[] {
  return [name, displayName, defaultChannel];
}

type Rows = readonly (readonly string[])[];

/**
 * Display names are expensive, because each is in a ClusterServiceVersion: only packages need them.
 */
async function print(
  call: CobraCall,
  rowsOf: (graph: UpgradeGraph, owner: string | undefined) => Rows,
  nameOf?: (csv: string) => string,
): Promise<void> {
  const [, owner = ''] = call.args;
  try {
    const rows = rowsOf(await validGraph(call, nameOf), owner === '' ? undefined : owner);
    await writeOutput(columns(rows), process.stdout);
  } catch (error) {
    throw logrusFatal(errorMessage(error));
  }
}

async function validGraph(
  { args, flags, signal }: CobraCall,
  nameOf: ((csv: string) => string) | undefined,
): Promise<UpgradeGraph> {
  const [reference = ''] = args;
  const registry = systemAccess(flags, [reference]);
  const options = { registry, signal, allowed: catalogKinds, onDatabase: databaseWarning() };
  const graph = new CollectedGraph();
  try {
    const parts = partsOfReference(reference, options);
    const add = ({ config, csvOf }: CatalogPart): void =>
      graph.add(config, nameOf && ((bundle) => nameOf(csvOf(bundle))));
    await validateParts(noted(parts, add));
  } catch (error) {
    if (!(error instanceof Error && error.cause instanceof KindNotAllowed)) throw error;
    throw new Error(`cannot list non-index ${goQuote(reference)}`, { cause: error });
  }
  return graph;
}

async function* noted(
  parts: AsyncIterable<CatalogPart>,
  note: (part: CatalogPart) => void,
): AsyncGenerator<CatalogConfig> {
  for await (const part of parts) {
    note(part);
    yield part.config;
  }
}

/** Aligns columns two spaces apart; the last one has no padding. Escapes control characters. */
function* columns(rows: Rows): Generator<string> {
  const shown = rows.map((row) => row.map(visibleLine));
  const widths: number[] = [];
  for (const row of shown) {
    for (const [column, cell] of row.slice(0, -1).entries()) {
      widths[column] = Math.max(widths[column] ?? 0, lengthOf(cell) + 2);
    }
  }
  for (const row of shown) {
    const padded = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return `${cell}${' '.repeat(Math.max(0, width - lengthOf(cell)))}`;
    });
    yield `${padded.join('')}\n`;
  }
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}
