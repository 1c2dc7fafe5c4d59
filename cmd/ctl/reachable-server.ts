import {
  announcedContentServer,
  localControlPlane,
} from '../../deploy/local/cluster/content-server.ts';
import type { Cluster } from './cluster.ts';
import type { ServerFlags } from './server-flags.ts';

/**
 * The flags, and the content server of `rukpak all` where the cluster is a control plane on this
 * machine and the flags name no server: nothing in such a cluster leads to it.
 */
export async function reachableServer<Flags extends ServerFlags>(
  { config }: Pick<Cluster, 'config'>,
  flags: Flags,
): Promise<Flags> {
  if (flags.server !== undefined) return flags;
  const layout = await localControlPlane({ files: config.files, server: config.cluster.server });
  const announced = layout && (await announcedContentServer(layout));
  if (announced === undefined) return flags;
  return { ...flags, server: announced.url, caFile: flags.caFile ?? announced.caFile };
}
