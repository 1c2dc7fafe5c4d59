import { defaultContent } from '../../core/manager/index.ts';
import { loadKubeconfig } from '../../core/platform/kube/index.ts';
import { parseBindAddress } from '../../core/platform/runtime/index.ts';
import {
  announceContentServer,
  announcedContentServer,
  contentServerCertificate,
  localControlPlane,
  type ServingFiles,
  withdrawContentServer,
} from '../../deploy/local/cluster/components/content-server.ts';
import type { Layout } from '../../deploy/local/cluster/layout.ts';
import type { CoreFlags } from '../flags/core-flags.ts';

const loopback = ['127.0.0.1', 'localhost', '0.0.0.0', undefined] as const;

type ServerFlags = Pick<
  CoreFlags,
  'kubeconfig' | 'context' | 'httpBindAddress' | 'httpExternalAddress' | 'tlsCertFile'
>;

/**
 * Runs `work`, on a control plane of this machine with flags with which every user of its kubeconfig
 * can find and trust the content server. The given flags unchanged for any other cluster, and when
 * they say how to reach the content server.
 */
export async function withLocalContentServer<Flags extends ServerFlags>(
  flags: Flags,
  work: (flags: Flags) => Promise<void>,
): Promise<void> {
  const local = await localServer(flags);
  if (local === undefined) return await work(flags);
  const { layout, url, certFile, keyFile } = local;
  const before = (await announcedContentServer(layout).catch(() => undefined))?.url;
  await announceContentServer(layout, url);
  try {
    await work({
      ...flags,
      httpExternalAddress: url,
      tlsCertFile: certFile,
      tlsPrivateKeyFile: keyFile,
    });
  } catch (error) {
    // The process that announced an address before may run, also one with this address.
    if (before !== url) await withdrawContentServer(layout, url, before).catch(() => undefined);
    throw error;
  }
  await withdrawContentServer(layout, url);
}

interface LocalServer extends ServingFiles {
  readonly layout: Layout;
  readonly url: string;
}

async function localServer(flags: ServerFlags): Promise<LocalServer | undefined> {
  if (flags.httpExternalAddress !== defaultContent.externalAddress) return undefined;
  const address = parseBindAddress(flags.httpBindAddress);
  if (flags.tlsCertFile !== undefined || !isLoopback(address)) return undefined;
  const { kubeconfig, context } = flags;
  const { files, cluster } = loadKubeconfig({ kubeconfig, context });
  const layout = await localControlPlane({ files, server: cluster.server });
  const certificate = layout && (await contentServerCertificate(layout));
  if (layout === undefined || certificate === undefined) return undefined;
  return { layout, url: `https://127.0.0.1:${address.port}`, ...certificate };
}

function isLoopback(
  address: ReturnType<typeof parseBindAddress>,
): address is NonNullable<typeof address> {
  if (address === undefined || address.port === 0) return false;
  return loopback.some((host) => host === address.host);
}
