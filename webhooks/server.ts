import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { errorMessage } from '../core/errors.ts';
import type { KeyPair } from '../core/platform/certificates/index.ts';
import type { Clock } from '../core/platform/clock.ts';
import { guardConnections } from './connection-guard.ts';
import {
  createReviewHandler,
  type ReviewHandlerOptions,
  type TrustedClients,
} from './review-handler.ts';

export interface WebhookServerOptions extends ReviewHandlerOptions {
  /** Default: all interfaces. */
  readonly host?: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly certificates: KeyPair;
}

export interface WebhookServer {
  readonly port: number;
  /** Serves new connections with another key pair; one that cannot be used is refused and logged. */
  useCertificates(certificates: KeyPair): void;
  /** Stops listening, lets running requests finish for `graceMs`, then cuts them off. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Longer than the API server keeps an idle connection (90 s): were we to close it first, the
 * request that it is just sending on it would be lost, and the user's change be refused.
 */
const keepAliveTimeout = 120_000;

/** Serves admission reviews over HTTPS; resolves once it listens. */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { logger, host, port, clock, clients } = options;
  let { certificates } = options;
  const answer = createReviewHandler(options);
  /** With whose authorities each connection was made. */
  const trusted = new WeakMap<Socket, string | undefined>();
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = await answer(request, response);
    // While the server closes, a connection must not stay open for a next request; nor must one of a
    // client whose authority may be trusted no more.
    response.shouldKeepAlive &&=
      server.listening && trusted.get(request.socket) === clients?.authorities.pem;
    send();
  }
  const server = createServer(
    {
      ...contextOf(certificates, clients),
      ...(clients && demandCertificates),
      handshakeTimeout: 5_000,
      headersTimeout: 5_000,
      requestTimeout: 30_000,
      // How often Node looks for those who are late; else every 30 s.
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout,
    },
    (request, response) => void serve(request, response),
  );
  guardConnections(server, logger);
  server.on('tlsClientError', (error) => {
    logger.warn({ error: error.message }, 'TLS handshake with a client of the webhooks failed');
  });
  server.on('secureConnection', (socket) => trusted.set(socket, clients?.authorities.pem));
  clients?.authorities.onChange(() => {
    server.setSecureContext(contextOf(certificates, clients));
    server.closeIdleConnections();
  });
  server.listen({ port, ...(host !== undefined && { host }) });
  await once(server, 'listening');
  server.on('error', (error) => logger.error({ error: error.message }, 'webhook server failed'));
  return {
    port: (server.address() as AddressInfo).port,
    useCertificates(next) {
      try {
        server.setSecureContext(contextOf(next, clients));
        certificates = next;
      } catch (error) {
        logger.error(
          { error: errorMessage(error) },
          'new serving certificate cannot be used; the old one stays',
        );
      }
    },
    close: (graceMs = 10_000) => close(server, graceMs, clock),
  };
}

function contextOf(
  { certificate, privateKey }: KeyPair,
  clients: TrustedClients | undefined,
): SecureContextOptions {
  return {
    cert: certificate,
    key: privateKey,
    minVersion: 'TLSv1.2',
    ...(clients && authoritiesContext(clients)),
  };
}

async function close(server: Server, graceMs: number, clock: Clock): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const stop = new AbortController();
  const cut = clock.sleep(graceMs, stop.signal).then(
    () => server.closeAllConnections(),
    () => undefined,
  );
  await closed;
  stop.abort();
  await cut;
}

/** For a server that is created: without a certificate of one of the authorities nobody gets through. */
const demandCertificates: TlsOptions = { requestCert: true, rejectUnauthorized: true };

/** What comes with each secure context that the server gets. */
function authoritiesContext({ authorities }: TrustedClients): SecureContextOptions {
  return {
    // Without a list, Node would trust whoever the public authorities certify.
    ca: authorities.pem ?? [],
    // A session that is taken up again would bring along who it was verified to be.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
