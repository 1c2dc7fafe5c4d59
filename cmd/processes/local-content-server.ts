import { defaultContent } from '../../core/manager/index.ts';
import { loadKubeconfig } from '../../core/platform/kube/index.ts';
import { parseBindAddress } from '../../core/platform/runtime/index.ts';
import {
  announceContentServer,
  contentServerCertificate,
  localControlPlane,
} from '../../deploy/local/cluster/components/content-server.ts';
import type { CoreFlags } from '../flags/core-flags.ts';

const loopback = ['127.0.0.1', 'localhost', '0.0.0.0', undefined] as const;

/**
 * On a control plane of this machine, flags with which every user of its kubeconfig can find and
 * trust the content server. The given flags unchanged for any other cluster, and when they say how
 * to reach the content server.
 */
export async function withLocalContentServer<
  Flags extends Pick<
    CoreFlags,
    'kubeconfig' | 'httpBindAddress' | 'httpExternalAddress' | 'tlsCertFile'
  >,
>(flags: Flags): Promise<Flags> {
  if (flags.httpExternalAddress !== defaultContent.externalAddress) return flags;
  const address = parseBindAddress(flags.httpBindAddress);
  if (flags.tlsCertFile !== undefined || !isLoopback(address)) return flags;
  const { files, cluster } = loadKubeconfig(
    flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig },
  );
  const layout = await localControlPlane({ files, server: cluster.server });
  const certificate = layout && (await contentServerCertificate(layout));
  if (layout === undefined || certificate === undefined) return flags;
  const url = `https://127.0.0.1:${address.port}`;
  await announceContentServer(layout, url);
  return {
    ...flags,
    httpExternalAddress: url,
    tlsCertFile: certificate.certFile,
    tlsPrivateKeyFile: certificate.keyFile,
  };
}

function isLoopback(
  address: ReturnType<typeof parseBindAddress>,
): address is NonNullable<typeof address> {
  if (address === undefined || address.port === 0) return false;
  return loopback.some((host) => host === address.host);
}
