import { type Command, Option } from 'commander';
import type { KubernetesObject } from '../../../api/meta.ts';
import { TerminalError } from '../../../core/errors.ts';
import type {
  ClusterExtensions,
  ExtensionKindName,
  RemoteCatalogs,
} from '../../../operators/client/index.ts';
import {
  featureGatesOption,
  type OperatorFeatureGates,
  operatorFeatureGates,
} from '../../flags/feature-gates.ts';
import type { Cluster } from '../cluster.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import {
  type OutputFlags,
  outputOption,
  type Progress,
  progressOn,
  Report,
} from '../output/output.ts';
import { visibleLine } from '../terminal/text.ts';

export interface OperatorFlags extends ClusterFlags, OutputFlags {
  readonly caFile?: string;
  readonly featureGates?: OperatorFeatureGates;
}

/** The flags of commands that read catalogs. */
export function addOperatorFlags(command: Command): Command {
  return addClusterFlags(command)
    .option(
      '--ca-file <path>',
      'CA (PEM) of the server of catalogs (default: that in the Secret of its Service)',
    )
    .addOption(outputOption());
}

/** The flags of commands that choose a bundle, as the controller would. */
export function addResolutionFlags(command: Command): Command {
  return addOperatorFlags(command).addOption(
    featureGatesOption(operatorFeatureGates, 'Features that "rukpak operators" runs with'),
  );
}

export function channelOption(meaning: string): Option {
  return new Option('-c, --channel <channelName>', meaning).argParser(
    (name: string, names: readonly string[] | undefined) => [...(names ?? []), name],
  );
}

/** What a command works with. */
export interface OperatorSession {
  readonly cluster: Cluster;
  readonly report: Report;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** As they were at the first call. */
  readonly extensions: () => Promise<ClusterExtensions>;
  /** As they were at the first call. */
  readonly catalogs: () => Promise<RemoteCatalogs>;
}

/** Connects while `work` runs, and then warns of catalogs that could not be read. */
export async function withOperators(
  flags: OperatorFlags,
  work: (session: OperatorSession) => Promise<void>,
): Promise<void> {
  const [{ withCluster }, { openCatalogContent }, client] = await Promise.all([
    import('../cluster.ts'),
    import('../server/catalog-content.ts'),
    import('../../../operators/client/index.ts'),
  ]);
  await withCluster(
    flags,
    async (cluster) => {
      const { signal } = cluster;
      const content = openCatalogContent(cluster, flags);
      const { read } = content;
      const known: { catalogs?: Promise<RemoteCatalogs>; extensions?: Promise<ClusterExtensions> } =
        {};
      const catalogs = (): Promise<RemoteCatalogs> => {
        known.catalogs ??= client.RemoteCatalogs.open({ client: cluster.client, read, signal });
        return known.catalogs;
      };
      const extensions = (): Promise<ClusterExtensions> => {
        const forceSemverUpgradeConstraints = flags.featureGates?.ForceSemverUpgradeConstraints;
        const options = { forceSemverUpgradeConstraints };
        known.extensions ??= client.ClusterExtensions.read(cluster.client, signal, options);
        return known.extensions;
      };
      const report = new Report(flags);
      const progress = progressOn(process.stderr);
      try {
        await work({ cluster, report, progress, signal, extensions, catalogs });
      } finally {
        warnOfUnread(await known.catalogs?.catch(() => undefined));
        await content.close();
      }
    },
    warn,
  );
}

export function warn(text: string): void {
  process.stderr.write(`Warning: ${visibleLine(text)}\n`);
}

function warnOfUnread(catalogs: RemoteCatalogs | undefined): void {
  for (const { catalog, problem } of catalogs?.unread ?? []) {
    warn(`${catalog.kind} "${catalog.name}" cannot be read: ${problem}`);
  }
}

/**
 * The catalogs of the cluster.
 * @throws TerminalError if it has none
 */
export async function existingCatalogs({ catalogs }: OperatorSession): Promise<RemoteCatalogs> {
  const opened = await catalogs();
  if (opened.kinds.size === 0) throw notServed();
  if (opened.serving().length === 0 && opened.absent().length === 0) {
    throw new TerminalError('the cluster has no catalog: create a Catalog or ClusterCatalog');
  }
  return opened;
}

/**
 * The kind of a new object: the wanted one, otherwise Operator.
 * @throws TerminalError if the cluster does not serve it
 */
export function kindToCreate(
  { kinds }: ClusterExtensions,
  isClusterExtension: boolean,
): ExtensionKindName {
  if (kinds.size === 0) throw notServed();
  const kind = isClusterExtension ? 'ClusterExtension' : 'Operator';
  if (kinds.has(kind)) return kind;
  const cure = isClusterExtension
    ? 'omit --cluster-extension'
    : 'pass --cluster-extension and --namespace';
  throw new TerminalError(`the cluster does not serve kind ${kind}: ${cure}`);
}

/** @throws TerminalError for an object of which nothing stays */
export function refuseDeleted({ kind, metadata }: KubernetesObject): void {
  const { name = '', deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined) return;
  throw new TerminalError(
    `${kind} "${name}" is being deleted (deletion requested at ${deletionTimestamp}): run the command again when it is gone`,
  );
}

export function notServed(): TerminalError {
  return new TerminalError(
    'the cluster serves neither Operators nor ClusterExtensions: install with "rukpak install --operators"',
  );
}
