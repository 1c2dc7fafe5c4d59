import { Argument, Command, Option } from 'commander';
import { stopSignal } from '../../../core/platform/stop-signal.ts';
import { addRegistryFlags, type RegistryFlags } from '../../flags/registry-flags.ts';
import { withPlace } from './opened-catalog.ts';

interface MigrateFlags extends RegistryFlags {
  readonly output: 'json' | 'yaml';
  readonly migrateLevel: string;
}

/** `rukpakctl catalog migrate`: a catalog of any format as files. */
export function migrateCommand(): Command {
  const command = new Command('migrate')
    .addArgument(
      new Argument('<reference>', 'Catalog: directory, image, oci:DIRECTORY, SQLite database'),
    )
    .addArgument(new Argument('<directory>', 'Directory to write, empty or new'))
    .addOption(
      new Option('-o, --output <format>', 'Format').choices(['json', 'yaml']).default('yaml'),
    )
    .option(
      '--migrate-level <level>',
      'Format migrations to apply: none, all, or all up to bundle-object-to-csv-metadata (olm.bundle.object becomes olm.csv.metadata)',
      'none',
    );
  return addRegistryFlags(command).action(withPlace(migrate));
}

async function migrate(reference: string, dir: string, flags: MigrateFlags): Promise<void> {
  const [{ writeJson, writeYaml }, { migrateCatalog, migrationsUpTo }] = await Promise.all([
    import('../../../catalog/blobs/index.ts'),
    import('../../../catalog/render/index.ts'),
  ]);
  await migrateCatalog(reference, {
    registry: async () => await (await import('../../registry-access.ts')).registryAccess(flags),
    signal: stopSignal(),
    migrations: migrationsUpTo(flags.migrateLevel),
    dir,
    write: flags.output === 'yaml' ? writeYaml : writeJson,
    extension: flags.output,
  });
}
