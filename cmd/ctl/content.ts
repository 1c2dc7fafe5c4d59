import { Argument, Command } from 'commander';
import { errorMessage } from '../../core/errors.ts';
import { addClusterFlags, type ClusterFlags, namespaceOption } from './cluster-flags.ts';
import { type OutputFlags, outputOption, Report } from './output.ts';
import { progressOn } from './progress.ts';
import { addServerFlags, type ServerFlags } from './server-flags.ts';

interface ContentFlags extends ClusterFlags, ServerFlags, OutputFlags {
  readonly namespace: string;
}

/** `rukpakctl content`: lists what is stored of a Bundle. */
export function contentCommand(): Command {
  const command = new Command('content')
    .addArgument(new Argument('<bundleName>', 'name of the Bundle'))
    .addOption(
      namespaceOption('namespace that the content server runs in').default('rukpak-system'),
    );
  return addServerFlags(addClusterFlags(command)).addOption(outputOption()).action(content);
}

async function content(bundle: string, flags: ContentFlags): Promise<void> {
  const [{ withCluster }, { readContent }, { listingLine }] = await Promise.all([
    import('./cluster.ts'),
    import('./read-content.ts'),
    import('./archive-listing.ts'),
  ]);
  const report = new Report(flags);
  const progress = progressOn(process.stderr);
  try {
    const entries = await withCluster(flags, async (cluster) =>
      progress(`reading the content of "${bundle}"`, () =>
        readContent(cluster, { bundle, server: flags, signal: cluster.signal }),
      ),
    );
    await report.lines(entries.map(listingLine));
    await report.result({ bundle, entries });
  } catch (error) {
    throw new Error(`content command failed: ${errorMessage(error)}`, { cause: error });
  }
}
