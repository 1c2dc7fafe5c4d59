import { Argument, Command, Option } from 'commander';
import { stringifyJson } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { Cluster } from '../cluster.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { logLine } from '../output/loggers.ts';
import { writeOutput } from '../output/output.ts';

interface ExportFlags extends ClusterFlags {
  readonly output: 'yaml' | 'json';
}

/** `rukpakctl export`: BundleDeployments as manifests that recreate them. */
export function exportCommand(): Command {
  const command = new Command('export')
    .addArgument(
      new Argument('[bundleDeploymentName]', 'Name of the BundleDeployment (default: all)'),
    )
    .addOption(
      new Option(
        '-o, --output <format>',
        'Output format: YAML documents, or a JSON List as kubectl prints it',
      )
        .choices(['yaml', 'json'])
        .default('yaml'),
    );
  return addClusterFlags(command).action(exportManifests);
}

async function exportManifests(name: string | undefined, flags: ExportFlags): Promise<void> {
  const [{ withCluster }, { toYaml }] = await Promise.all([
    import('../cluster.ts'),
    import('../../../core/sdk.ts'),
  ]);
  const found = await withCluster(flags, (cluster) => deploymentsOf(cluster, name));
  for (const warning of found.flatMap(warningsOf)) {
    process.stderr.write(logLine(`warning: ${warning}`));
  }
  if (found.length === 0) process.stderr.write(logLine('there are no BundleDeployments'));
  const items = found.map(manifestOf);
  const list = { apiVersion: 'v1', kind: 'List', items };
  const text = flags.output === 'yaml' ? toYaml(items) : `${stringifyJson(list, 2)}\n`;
  await writeOutput([text], process.stdout);
}

function warningsOf({ metadata, spec }: BundleDeployment): readonly string[] {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const isUploaded = spec.template.spec.source.type === 'upload';
  const uploaded =
    'has uploaded content, which is not in its manifest: keep the directory, and rukpakctl run it again';
  return [
    ...(isDeleted ? ['is being deleted: its manifest installs it again'] : []),
    ...(isUploaded ? [uploaded] : []),
  ].map((text) => `"${metadata.name}" ${text}`);
}

async function deploymentsOf(
  { client, signal }: Cluster,
  name: string | undefined,
): Promise<readonly BundleDeployment[]> {
  if (name !== undefined) {
    const live = await client.get(bundleDeploymentResource, { name }, signal);
    return [live as BundleDeployment];
  }
  const { listAll } = await import('../../../core/platform/kube/index.ts');
  const { items } = await listAll(client, bundleDeploymentResource, {
    transform: (item) => item as BundleDeployment,
    signal,
  });
  return items;
}

/**
 * Annotations in which core and tools record state, and one-time requests: not part of the wanted
 * state.
 */
const notes: ReadonlySet<string> = new Set([
  annotation.approve,
  annotation.confirmPrune,
  annotation.seed,
  annotation.acceptNewSeed,
  annotation.installNamespace,
  annotation.hooksApplied,
  annotation.notedStatus,
  annotation.orphanObjects,
  annotation.changedBy,
  annotation.reconcileRequestedAt,
  'kubectl.kubernetes.io/last-applied-configuration',
]);

/** A deployment as a manifest that recreates it: without status, and without recorded state. */
function manifestOf({ apiVersion, kind, metadata, spec }: BundleDeployment): KubernetesObject {
  const { name, labels, annotations } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...entriesOf('labels', labels),
      ...entriesOf('annotations', annotations),
    },
    spec,
  };
}

function entriesOf(
  field: 'labels' | 'annotations',
  map: Readonly<Record<string, string>> = {},
): object {
  const kept = Object.entries(map).filter(([key]) => !isNote(key));
  return kept.length === 0 ? {} : { [field]: Object.fromEntries(kept) };
}

function isNote(key: string): boolean {
  return notes.has(key) || key.startsWith('applyset.kubernetes.io/');
}
