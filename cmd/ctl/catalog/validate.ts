import { Argument, Command } from 'commander';
import { addRegistryFlags, type RegistryFlags } from '../../registry-flags.ts';
import { type OutputFlags, outputOption, Report } from '../output.ts';
import { withPlace } from './blob-place.ts';

/** `rukpakctl catalog validate`: what opm refuses in a catalog. */
export function validateCommand(): Command {
  const command = new Command('validate').addArgument(
    new Argument('<catalog>', 'Directory, image, oci:DIRECTORY or oci-archive:FILE'),
  );
  return addRegistryFlags(command).addOption(outputOption()).action(withPlace(validate));
}

async function validate(place: string, flags: RegistryFlags & OutputFlags): Promise<void> {
  const [{ loadDirectory, openCatalog }, { validateCatalog }] = await Promise.all([
    import('../../../catalog/load/index.ts'),
    import('../../../catalog/validate/index.ts'),
  ]);
  const { signal } = new AbortController();
  const registry = async () =>
    await (await import('../../registry-access.ts')).registryAccess(flags);
  const catalog = await openCatalog(place, { registry, signal });
  try {
    await validateCatalog(loadDirectory(catalog.dir, { signal }));
  } finally {
    await catalog.close();
  }
  const report = new Report(flags);
  await report.line(`${place} is valid`);
  await report.result({ catalog: place, valid: true });
}
