import { Argument, Command, Option } from 'commander';
import type { UpgradeGraph } from '../../../../catalog/graph/index.ts';
import { addRegistryFlags, type RegistryFlags } from '../../../flags/registry-flags.ts';
import { type OutputFlags, outputOption, Report } from '../../output/output.ts';
import { tableLines } from '../../terminal/tree.ts';
import { withCatalog, withPlace } from '../opened-catalog.ts';

const listed = ['packages', 'channels', 'bundles'] as const;

interface ListFlags extends RegistryFlags, OutputFlags {
  readonly show?: (typeof listed)[number];
}

/** `rukpakctl catalog list`: the content of a catalog, valid or not. */
export function listCommand(): Command {
  const command = new Command('list')
    .addArgument(new Argument('<catalog>', 'Directory, image, oci:DIRECTORY or oci-archive:FILE'))
    .addArgument(new Argument('[package]', 'The only package to list (default: all)'))
    .addOption(
      new Option(
        '--show <what>',
        'What to list (default: packages; of one package, bundles)',
      ).choices(listed),
    );
  return addRegistryFlags(command).addOption(outputOption()).action(withPlace(list));
}

async function list(place: string, owner: string | undefined, flags: ListFlags): Promise<void> {
  const show = flags.show ?? (owner === undefined ? 'packages' : 'bundles');
  const { headings, rows, values } = await tables[show](await graphOf(place, flags), owner);
  const report = new Report(flags);
  await report.lines(tableLines([headings, ...rows], report.width));
  await report.result({ catalog: place, [show]: values });
}

async function graphOf(place: string, flags: RegistryFlags): Promise<UpgradeGraph> {
  const [{ decodedParts, loadDirectory }, { CollectedGraph }, { operatorNameOf }] =
    await Promise.all([
      import('../../../../catalog/load/index.ts'),
      import('../../../../catalog/graph/index.ts'),
      import('../../../../catalog/render/index.ts'),
    ]);
  return await withCatalog(place, flags, async (dir, signal) => {
    const graph = new CollectedGraph();
    for await (const part of decodedParts(loadDirectory(dir, { signal }))) {
      graph.add(part, operatorNameOf);
    }
    return graph;
  });
}

interface Table {
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly values: readonly object[];
}

type TableOf = (graph: UpgradeGraph, owner: string | undefined) => Promise<Table>;

const tables: Readonly<Record<(typeof listed)[number], TableOf>> = {
  packages: async (graph, owner) => {
    const { listedPackages } = await import('../../../../catalog/graph/index.ts');
    const values = listedPackages(graph, owner);
    const rows = values.map(({ name, displayName, defaultChannel, heads }) => [
      name,
      displayName,
      defaultChannel,
      heads.join(', '),
    ]);
    return { headings: ['NAME', 'DISPLAY NAME', 'DEFAULT CHANNEL', 'HEAD'], rows, values };
  },
  channels: async (graph, owner) => {
    const { listedChannels } = await import('../../../../catalog/graph/index.ts');
    const values = listedChannels(graph, owner);
    const rows = values.map((row) => [row.package, row.channel, row.heads.join(', ')]);
    return { headings: ['PACKAGE', 'CHANNEL', 'HEAD'], rows, values };
  },
  bundles: async (graph, owner) => {
    const { listedBundles } = await import('../../../../catalog/graph/index.ts');
    const values = listedBundles(graph, owner);
    const rows = values.map(({ skips, ...row }) => [
      row.package,
      row.channel,
      row.name,
      row.replaces,
      skips.join(', '),
      row.skipRange,
      row.image,
    ]);
    const edges = ['REPLACES', 'SKIPS', 'SKIP RANGE'];
    return { headings: ['PACKAGE', 'CHANNEL', 'BUNDLE', ...edges, 'IMAGE'], rows, values };
  },
};
