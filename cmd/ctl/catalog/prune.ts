import { Argument, Command, Option } from 'commander';
import type { ChosenVersions, WrittenSelection } from '../../../catalog/compare/index.ts';
import { addRegistryFlags, type RegistryFlags } from '../../flags/registry-flags.ts';
import { writeOutput } from '../output/output.ts';
import { visibleText } from '../terminal/text.ts';
import { withCatalog, withPlace } from './opened-catalog.ts';

interface PruneFlags extends RegistryFlags {
  readonly package: readonly string[];
  readonly channel: readonly string[];
  readonly versions?: string;
  readonly headsOnly?: true;
  readonly dependencies: boolean;
  readonly output: string;
}

/** `rukpakctl catalog prune`: reduces a catalog to selected content; the result is valid again. */
export function pruneCommand(): Command {
  const command = new Command('prune')
    .addArgument(new Argument('<catalog>', 'Directory, image, oci:DIRECTORY or oci-archive:FILE'))
    .addOption(named('--package <name>', 'Package to keep; repeatable'))
    .addOption(
      named(
        '--channel <name>',
        'Channel to keep, of all packages or as PACKAGE=CHANNEL; repeatable',
      ),
    )
    .option('--versions <range>', 'Versions to keep, such as ">=1.2.0 <2.0.0" (default: all)')
    .addOption(
      new Option('--heads-only', 'Keep only the head of each channel').conflicts('versions'),
    )
    .option('--no-dependencies', 'Leave out what kept bundles depend on')
    .option(
      '-o, --output <place>',
      'Standard output as yaml or json, or an empty directory',
      'yaml',
    );
  return addRegistryFlags(command).action(withPlace(prune));
}

function named(flags: string, summary: string): Option {
  return new Option(flags, summary)
    .argParser((value: string, values: readonly string[]) => [...values, value])
    .default([], 'all');
}

async function prune(place: string, flags: PruneFlags): Promise<void> {
  const [{ writeJson, writeYaml }, rendering, { loadDirectory, configOf }, comparing] =
    await Promise.all([
      import('../../../catalog/blobs/index.ts'),
      import('../../../catalog/render/index.ts'),
      import('../../../catalog/load/index.ts'),
      import('../../../catalog/compare/index.ts'),
    ]);
  const { checkEmpty, SpooledCatalog, writeCatalogFiles } = rendering;
  const { output } = flags;
  const isStream = output === 'json' || output === 'yaml';
  if (!isStream) await checkEmpty(output);
  const selection = comparing.readSelection(written(flags, comparing.versionsInRange));
  using pruned = new SpooledCatalog(output === 'json' ? writeJson : writeYaml);
  await withCatalog(place, flags, async (dir, signal) => {
    const read = () => loadDirectory(dir, { signal });
    for await (const blob of comparing.pruneCatalog(read, selection, { note })) {
      pruned.add(configOf(blob));
    }
    if (!isStream) await writeCatalogFiles(pruned, output, { extension: 'yaml', signal });
  });
  if (isStream) await writeOutput(pruned.text(), process.stdout);
}

function written(
  { package: packages, channel: channels, versions, headsOnly, dependencies }: PruneFlags,
  inRange: (text: string) => ChosenVersions,
): WrittenSelection {
  const chosen = versions === undefined ? undefined : inRange(versions);
  return {
    packages,
    channels,
    versions: chosen ?? (headsOnly ? 'head' : 'all'),
    skipDependencies: !dependencies,
  };
}

function note(text: string): void {
  process.stderr.write(`note: ${visibleText(text)}\n`);
}
