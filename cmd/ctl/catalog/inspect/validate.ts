import { Argument, Command } from 'commander';
import type { CatalogSize } from '../../../../catalog/validate/index.ts';
import { errorMessage, TerminalError } from '../../../../core/errors.ts';
import { stopSignal } from '../../../../core/platform/stop-signal.ts';
import { addRegistryFlags, type RegistryFlags } from '../../../flags/registry-flags.ts';
import { type OutputFlags, outputOption, Report } from '../../output/output.ts';
import { counted } from '../../terminal/text.ts';

/** `rukpakctl catalog validate`: reports what opm rejects in catalogs. */
export function validateCommand(): Command {
  const command = new Command('validate').addArgument(
    new Argument('<catalog...>', 'Directories, images, oci:DIRECTORY or oci-archive:FILE'),
  );
  return addRegistryFlags(command).addOption(outputOption()).action(validate);
}

async function validate(
  places: readonly string[],
  flags: RegistryFlags & OutputFlags,
): Promise<void> {
  const report = new Report(flags);
  const signal = stopSignal();
  for (const catalog of places) {
    const found = await verdict(catalog, flags, signal);
    if (found instanceof TerminalError) {
      process.exitCode = 1;
      const message = errorMessage(found);
      await report.line(`${catalog} is not valid: ${message}`);
      await report.result({ catalog, valid: false, error: { message } });
    } else {
      const { packages, channels, bundles } = found;
      const counts = [
        counted(packages, 'package'),
        counted(channels, 'channel'),
        counted(bundles, 'bundle'),
      ];
      await report.line(`${catalog} is valid: ${counts.join(', ')}`);
      await report.result({ catalog, valid: true, packages, channels, bundles });
    }
  }
}

async function verdict(
  place: string,
  flags: RegistryFlags,
  signal: AbortSignal,
): Promise<CatalogSize | TerminalError> {
  const [{ loadDirectory, openCatalog }, { validateCatalog }, { placedError }] = await Promise.all([
    import('../../../../catalog/load/index.ts'),
    import('../../../../catalog/validate/index.ts'),
    import('../../../../catalog/blobs/index.ts'),
  ]);
  const registry = async () =>
    await (await import('../../../registry-access.ts')).registryAccess(flags);
  const catalog = await openCatalog(place, { registry, signal });
  try {
    return await validateCatalog(loadDirectory(catalog.dir, { signal }));
  } catch (error) {
    const placed = placedError(error);
    if (placed instanceof TerminalError) return placed;
    throw placed;
  } finally {
    await catalog.close();
  }
}
