import { Argument, Command, Option } from 'commander';
import type { CatalogConfig } from '../../../catalog/blobs/index.ts';
import type { SpooledCatalog } from '../../../catalog/render/index.ts';
import { listenForStop, throwIfStopped } from '../../../core/platform/stop-signal.ts';
import { leaveOutTurboFan } from '../../favour-memory.ts';
import { addRegistryFlags, type RegistryFlags } from '../../flags/registry-flags.ts';
import { writeOutput } from '../output/output.ts';
import { visibleText } from '../terminal/text.ts';
import { withPlace } from './opened-catalog.ts';

interface RenderFlags extends RegistryFlags {
  readonly output: 'json' | 'yaml';
  readonly migrateLevel: string;
  readonly imageTemplate?: string;
}

/** `rukpakctl catalog render`: the blobs of catalogs and bundles, in opm's order. */
export function renderCommand(): Command {
  const command = new Command('render')
    .addArgument(
      new Argument(
        '<reference...>',
        'Bundle directory, catalog directory, image, oci:DIRECTORY, oci-archive:FILE, SQLite database',
      ),
    )
    .addOption(
      new Option('-o, --output <format>', 'Format').choices(['json', 'yaml']).default('yaml'),
    )
    .option(
      '--migrate-level <level>',
      'Format migrations to apply: none, all, or all up to bundle-object-to-csv-metadata (olm.bundle.object becomes olm.csv.metadata)',
      'none',
    )
    .option(
      '--image-template <template>',
      'Image of the bundle of a directory, with {{.Package}}, {{.Name}}, {{.Version}}',
    );
  return addRegistryFlags(command).action(withPlace(render));
}

async function render(references: readonly string[], flags: RenderFlags): Promise<void> {
  leaveOutTurboFan();
  const [{ writeJson, writeYaml }, rendering] = await Promise.all([
    import('../../../catalog/blobs/index.ts'),
    import('../../../catalog/render/index.ts'),
  ]);
  const { imageTemplate, migrationsUpTo, renderedParts, SpooledCatalog } = rendering;
  const template = flags.imageTemplate;
  const options = {
    registry: async () => await (await import('../../registry-access.ts')).registryAccess(flags),
    imageTemplate: template === undefined ? undefined : imageTemplate(template),
    migrations: migrationsUpTo(flags.migrateLevel),
    warn: (message: string) => void process.stderr.write(`warning: ${visibleText(message)}\n`),
  };
  using catalog = new SpooledCatalog(flags.output === 'yaml' ? writeYaml : writeJson);
  await collect((signal) => renderedParts(references, { ...options, signal }), catalog);
  await writeOutput(catalog.text(), process.stdout);
}

/** Collects the parts, and removes the files that are unpacked for them, also after Ctrl-C. */
async function collect(
  parts: (signal: AbortSignal) => AsyncIterable<CatalogConfig>,
  catalog: SpooledCatalog,
): Promise<void> {
  using stop = listenForStop();
  for await (const part of parts(stop.signal)) catalog.add(part);
  await throwIfStopped(stop.signal);
}
