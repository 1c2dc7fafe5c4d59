import { constants } from 'node:crypto';
import type { SecureContextOptions, TLSSocket, TlsOptions } from 'node:tls';
import { HttpProblem } from './http-problem.ts';

/** Who may call the webhooks: the API server, which its client certificate proves to be it. */
export interface TrustedClients {
  /** Who issues client certificates; there is no client to trust while `pem` is undefined. */
  readonly authorities: {
    readonly pem: string | undefined;
    onChange(listener: () => void): void;
  };
  /** Common names of the clients; any where empty. */
  readonly names: readonly string[];
}

/** For a server that is created: without a certificate of one of the authorities nobody gets through. */
export const demandCertificates: TlsOptions = { requestCert: true, rejectUnauthorized: true };

/** What comes with each secure context that the server gets. */
export function authoritiesContext({ authorities }: TrustedClients): SecureContextOptions {
  return {
    // Without a list, Node would trust whoever the public authorities certify.
    ca: authorities.pem ?? [],
    // A session that is taken up again would bring along who it was verified to be.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** @throws HttpProblem 403 where the client is none of those that are named. */
export function checkName(socket: TLSSocket, { names }: TrustedClients): void {
  if (names.length === 0) return;
  const { CN: name } = socket.getPeerCertificate().subject ?? {};
  if (typeof name === 'string' && names.includes(name)) return;
  throw new HttpProblem(
    403,
    `the client certificate of ${JSON.stringify(name ?? '')} is not that of a client which --client-name allows`,
  );
}
