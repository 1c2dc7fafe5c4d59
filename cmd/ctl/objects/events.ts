import { Argument, Command } from 'commander';
import {
  addClusterFlags,
  type ClusterFlags,
  namespaceOption,
  repeated,
  type WatchFlag,
  watchOption,
} from '../flags.ts';
import { type OutputFlags, outputOption, Report } from '../output/output.ts';
import { tableLines } from '../terminal/tree.ts';
import type { ShownEvent } from './family-events.ts';

interface EventsFlags extends ClusterFlags, OutputFlags, WatchFlag {
  readonly systemNamespace: string;
  readonly namespace?: string;
}

/** `rukpakctl events`: Events of a deployment, its Bundles and its objects. */
export function eventsCommand(): Command {
  const command = new Command('events')
    .addArgument(new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment'))
    .addOption(
      namespaceOption('Show only Events of objects in this namespace (default: all namespaces)'),
    )
    .addOption(watchOption('Also print new Events'))
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system');
  return addClusterFlags(command).addOption(outputOption()).action(events);
}

async function events(name: string, flags: EventsFlags): Promise<void> {
  const [{ withCluster }, { eventsOf, eventRow, eventHeadings }] = await Promise.all([
    import('../cluster.ts'),
    import('./family-events.ts'),
  ]);
  const report = new Report(flags);
  const { namespace, systemNamespace, watch = false } = flags;
  const printed = new Set<string>();
  await withCluster(flags, async (cluster) => {
    const { signal } = cluster;
    await repeated({ watch, signal }, async () => {
      const found = await eventsOf(cluster, { name, namespace, systemNamespace, signal });
      const fresh = found.filter((event) => !printed.has(keyOf(event)));
      const isFirst = printed.size === 0;
      for (const event of fresh) printed.add(keyOf(event));
      const rows = fresh.map((event) => eventRow(event, Date.now()));
      const table = isFirst && rows.length > 0 ? [eventHeadings, ...rows] : rows;
      await report.lines(tableLines(table, report.width));
      if (isFirst && rows.length === 0 && !watch) await report.line(nothing(flags, name));
      if (!watch || fresh.length > 0) {
        await report.result({
          bundleDeployment: name,
          events: fresh,
        });
      }
    });
  });
}

/** Changes when the Event occurs again. */
function keyOf({ uid, count }: ShownEvent): string {
  return `${uid} ${count}`;
}

function nothing({ namespace }: EventsFlags, name: string): string {
  const where = namespace === undefined ? '' : ` in namespace "${namespace}"`;
  return `there are no Events of "${name}"${where}: the API server keeps them for an hour by default`;
}
