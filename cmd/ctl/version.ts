import { Command } from 'commander';
import { buildInfo, version } from '../build-info.ts';
import { addClusterFlags, type ClusterFlags } from './flags.ts';
import { type OutputFlags, outputOption, Report } from './output/output.ts';

interface VersionFlags extends ClusterFlags, OutputFlags {
  readonly server?: true;
  readonly systemNamespace: string;
}

/** `rukpakctl version`: version and source of this program. */
export function versionCommand(): Command {
  const command = new Command('version')
    .option('--server', 'Also print the versions of this program, of core and of Kubernetes')
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system');
  return addClusterFlags(command).addOption(outputOption()).action(printVersion);
}

async function printVersion(flags: VersionFlags): Promise<void> {
  const info = buildInfo();
  const report = new Report(flags);
  await report.line(`revision: "${info.revision}", date: "${info.date}", state: "${info.state}"`);
  if (flags.server !== true) return await report.result(info);
  const [{ withCluster }, { tableLines }, { serverVersions }] = await Promise.all([
    import('./cluster.ts'),
    import('./terminal/tree.ts'),
    import('./verify/processes.ts'),
  ]);
  const { systemNamespace } = flags;
  const versions = await withCluster(flags, ({ client, signal }) =>
    serverVersions(client, { systemNamespace, signal }),
  );
  const all = [{ program: 'rukpakctl', version: version() }, ...versions];
  const rows = all.map(({ program, version: running }) => [program, running]);
  await report.lines(tableLines([['PROGRAM', 'VERSION'], ...rows], report.width));
  await report.result({ ...info, versions: all });
}
