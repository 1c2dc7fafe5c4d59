import { Argument, Command, Option } from 'commander';
import type { CatalogDiff } from '../../../../catalog/compare/index.ts';
import { addRegistryFlags, type RegistryFlags } from '../../../flags/registry-flags.ts';
import { type OutputFlags, outputOption, Report } from '../../output/output.ts';
import { withCatalog, withPlace } from '../opened-catalog.ts';
import { diffLines, paintChanges } from './diff-lines.ts';

interface DiffFlags extends RegistryFlags, OutputFlags {
  readonly failOn?: 'stranded';
}

/** `rukpakctl catalog diff`: what changes from one catalog to another. */
export function diffCommand(): Command {
  const command = new Command('diff')
    .addArgument(
      new Argument('<old>', 'Old catalog: directory, image, oci:DIRECTORY or oci-archive:FILE'),
    )
    .addArgument(
      new Argument('<new>', 'New catalog: directory, image, oci:DIRECTORY or oci-archive:FILE'),
    )
    .addOption(
      new Option('--fail-on <what>', 'Exit code 1 if bundles lose their upgrades').choices([
        'stranded',
      ]),
    );
  return addRegistryFlags(command).addOption(outputOption()).action(withPlace(diff));
}

async function diff(before: string, after: string, flags: DiffFlags): Promise<void> {
  const found = await withCatalog(before, flags, async (old, signal) => {
    return await withCatalog(after, flags, async (now) => await compared(old, now, signal));
  });
  const report = new Report(flags);
  await report.lines(diffLines(found), paintChanges);
  await report.result(found);
  if (flags.failOn === 'stranded' && found.stranded.length > 0) process.exitCode = 1;
}

async function compared(before: string, after: string, signal: AbortSignal): Promise<CatalogDiff> {
  const [{ loadDirectory }, { diffCatalogs }] = await Promise.all([
    import('../../../../catalog/load/index.ts'),
    import('../../../../catalog/compare/index.ts'),
  ]);
  return await diffCatalogs(loadDirectory(before, { signal }), loadDirectory(after, { signal }));
}
