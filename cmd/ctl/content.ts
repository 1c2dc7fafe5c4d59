import { Argument, Command } from 'commander';
import { errorMessage } from '../../core/errors.ts';
import {
  addClusterFlags,
  addServerFlags,
  type ClusterFlags,
  namespaceOption,
  type ServerFlags,
} from './flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from './output/output.ts';

interface ContentFlags extends ClusterFlags, ServerFlags, OutputFlags {
  readonly namespace: string;
}

/** `rukpakctl content`: lists the stored content of a Bundle. */
export function contentCommand(): Command {
  const command = new Command('content')
    .addArgument(new Argument('<bundleName>', 'Name of the Bundle'))
    .addOption(
      namespaceOption('Namespace that the content server runs in').default('rukpak-system'),
    );
  return addServerFlags(addClusterFlags(command)).addOption(outputOption()).action(content);
}

async function content(bundle: string, flags: ContentFlags): Promise<void> {
  const [{ withCluster }, { listingLine, readContent }] = await Promise.all([
    import('./cluster.ts'),
    import('./server/read-content.ts'),
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
