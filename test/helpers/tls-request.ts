import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:https';
import { connect } from 'node:tls';

/** A server on this machine that others know by another name. */
export interface TlsServer {
  readonly port: number;
  /** What its certificate must be for. */
  readonly servername: string;
  /** PEM of who must have signed it. */
  readonly ca: string;
  /** The client's own certificate, in PEM. */
  readonly client?: { readonly cert: string; readonly key: string };
}

export interface TlsAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** GET of a path; rejects where the certificate is not as it must be. */
export async function tlsGet(
  { port, servername, ca, client }: TlsServer,
  path: string,
  token?: string,
): Promise<TlsAnswer> {
  const headers = {
    host: servername,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const to = { host: '127.0.0.1', port, servername, ca, ...client };
  const sent = request({ ...to, path, headers, agent: false });
  const { promise, resolve, reject } = Promise.withResolvers<TlsAnswer>();
  sent.on('error', reject);
  sent.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) });
    });
  });
  sent.end();
  return await promise;
}

/** The certificate of a new connection; rejects where it is not as it must be. */
export async function servedCertificate({
  port,
  servername,
  ca,
}: TlsServer): Promise<X509Certificate> {
  const socket = connect({ host: '127.0.0.1', port, servername, ca });
  try {
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined) throw new Error(`no certificate on port ${port}`);
    return certificate;
  } finally {
    socket.destroy();
  }
}
