import { constants } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { Logger } from '../contracts/logger.ts';
import type { Clock } from '../platform/clock.ts';
import {
  type Certificate,
  type CertificateFiles,
  followCertificate,
  readCertificate,
} from './certificate-files.ts';
import type { ClientAuthorities } from './client-authorities.ts';

export interface TlsFiles extends CertificateFiles {
  /** Client certificates count where they were issued by one of these. */
  readonly clientAuthorities?: ClientAuthorities;
}

export interface TlsServerOptions {
  readonly app: RequestListener;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * A server that takes up new files and client authorities without a restart. Clients are asked for a
 * certificate and served without one too: who may do what is decided with each request.
 */
export async function createTlsServer(
  { clientAuthorities, ...files }: TlsFiles,
  { app, ...options }: TlsServerOptions,
): Promise<Server> {
  let current = await readCertificate(files);
  const context = (): SecureContextOptions => contextOf(current, clientAuthorities);
  const clients = { requestCert: clientAuthorities !== undefined, rejectUnauthorized: false };
  const server = createServer({ ...context(), ...clients }, app);
  clientAuthorities?.onChange(() => server.setSecureContext(context()));
  void followCertificate(files, {
    ...options,
    current,
    onChange: (certificate) => {
      current = certificate;
      server.setSecureContext(context());
    },
  });
  return server;
}

function contextOf(
  certificate: Certificate,
  authorities?: ClientAuthorities,
): SecureContextOptions {
  return {
    ...certificate,
    minVersion: 'TLSv1.2',
    // Without a list, Node would trust whoever the public authorities certify.
    ca: authorities?.pem ?? [],
    // A session that is taken up again would bring along who it was verified to be.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
