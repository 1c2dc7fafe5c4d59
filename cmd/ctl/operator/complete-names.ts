import type { RemoteCatalogs } from '../../../operators/client/index.ts';
import type { ClusterFlags } from '../flags.ts';

/** What completion asks of a cluster with operators. */
export type OperatorName = 'package' | 'operator' | 'channel' | 'version';

interface NameQuestion {
  readonly flags: ClusterFlags & { readonly caFile?: string };
  /** The package or operator before the word to complete. */
  readonly name: string;
  /** Milliseconds. */
  readonly patience: number;
}

/** The names that fit; writes nothing, whatever cannot be read. */
export async function operatorNames(
  what: OperatorName,
  { flags, name, patience }: NameQuestion,
): Promise<readonly string[]> {
  const [{ withCluster }, { openCatalogContent }, client] = await Promise.all([
    import('../cluster.ts'),
    import('../server/catalog-content.ts'),
    import('../../../operators/client/index.ts'),
  ]);
  return await withCluster(flags, async (cluster) => {
    const signal = AbortSignal.any([cluster.signal, AbortSignal.timeout(patience)]);
    const installed = async () =>
      (await client.ClusterExtensions.read(cluster.client, signal)).rows;
    if (what === 'operator') return (await installed()).map((row) => row.name);
    const content = openCatalogContent({ ...cluster, signal }, flags);
    try {
      const options = { client: cluster.client, read: content.read, signal };
      const catalogs = await client.RemoteCatalogs.open(options);
      if (what === 'package') return await client.packageNames(catalogs);
      const ofOperator = (await installed()).find((row) => row.name === name);
      return await partsOf(catalogs, ofOperator?.package ?? name, what);
    } finally {
      await content.close();
    }
  });
}

/** Names of channels, or versions, the newest first. */
async function partsOf(
  catalogs: RemoteCatalogs,
  packageName: string,
  what: 'channel' | 'version',
): Promise<readonly string[]> {
  const { packageInfo } = await import('../../../operators/client/index.ts');
  const channels = (await packageInfo(catalogs, packageName)).flatMap((info) => info.channels);
  const parts = channels.flatMap(({ name, versions }) => (what === 'channel' ? [name] : versions));
  return [...new Set(parts)];
}
