import { Argument, Command } from 'commander';
import { addClusterFlags, type ClusterFlags, namespaceOption } from '../flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';
import { treeLines } from '../terminal/tree.ts';

interface TreeFlags extends ClusterFlags, OutputFlags {
  readonly systemNamespace: string;
  readonly namespace?: string;
}

/** `rukpakctl tree`: the objects of a BundleDeployment, down to Pods. */
export function treeCommand(): Command {
  const command = new Command('tree')
    .addArgument(new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment'))
    .addOption(namespaceOption('Show only objects in this namespace (default: all namespaces)'))
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system');
  return addClusterFlags(command).addOption(outputOption()).action(tree);
}

async function tree(name: string, flags: TreeFlags): Promise<void> {
  const [{ withCluster }, { familyOf }, { familyTree, treeObjects }] = await Promise.all([
    import('../cluster.ts'),
    import('./family.ts'),
    import('./family-tree.ts'),
  ]);
  const report = new Report(flags);
  const { namespace, systemNamespace } = flags;
  const request = { name, namespace, systemNamespace };
  const family = await withCluster(flags, (cluster) =>
    progressOn(process.stderr)(`looking at "${name}"`, () =>
      familyOf(cluster, { ...request, signal: cluster.signal }),
    ),
  );
  const objects = treeObjects(family, Date.now());
  await report.lines(treeLines(familyTree(family, objects), report.width));
  if (objects.length === 0) {
    const where = namespace === undefined ? '' : ` in namespace "${namespace}"`;
    await report.line(`it has no objects${where}`);
  }
  const { bundles, hidden } = family;
  await report.result({ bundleDeployment: name, bundles, objects, hidden });
}
