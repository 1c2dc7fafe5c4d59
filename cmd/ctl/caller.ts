import { TerminalError } from '../../core/errors.ts';
import type { TlsOptions } from '../../core/platform/kube/index.ts';
import type { Cluster } from './cluster.ts';

/** Who a content server is to see. */
export interface Caller {
  readonly token?: string;
  readonly certificate?: Required<Pick<TlsOptions, 'cert' | 'key'>>;
}

/**
 * The user of the kubeconfig: the bearer token, however it is come by, or the client certificate.
 * @throws TerminalError where the user has neither, or is to act as somebody else.
 */
export async function kubeconfigCaller(
  cluster: Pick<Cluster, 'credentials' | 'actsAs'>,
): Promise<Caller> {
  if (cluster.actsAs !== undefined) {
    throw new TerminalError(
      `the content server knows the user of a token or certificate only, and cannot take "${cluster.actsAs}" for the caller: run this command without --as, with a kubeconfig of that user`,
    );
  }
  const { headers, tls } = await cluster.credentials();
  const token = /^Bearer (.+)$/i.exec(headers['authorization']?.toString() ?? '')?.[1];
  if (token !== undefined) return { token };
  const { cert, key } = tls;
  if (cert !== undefined && key !== undefined) return { certificate: { cert, key } };
  throw new TerminalError(
    'the user of the kubeconfig has neither a bearer token nor a client certificate, and the content server takes nothing else: choose another one with --context or --kubeconfig',
  );
}
