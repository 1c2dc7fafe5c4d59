import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { errorMessage } from '../core/errors.ts';
import type { KeyPair } from '../core/platform/certificates/index.ts';
import type { Clock } from '../core/platform/clock.ts';
import { guardConnections } from '../core/platform/connection-guard.ts';
import {
  createReviewHandler,
  type ReviewHandlerOptions,
  type TrustedClients,
} from './review-handler.ts';

export interface WebhookServerOptions extends ReviewHandlerOptions {
  /** Default: all interfaces. */
  readonly host?: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly certificates: KeyPair;
  /** Once it is aborted, each answer ends its connection: the next request goes to another replica. */
  readonly stopping?: AbortSignal;
}

export interface WebhookServer {
  readonly port: number;
  /** Uses another key pair for new connections; an invalid one is refused and logged. */
  useCertificates(certificates: KeyPair): void;
  /** Stops listening, lets running requests finish for `graceMs`, then aborts them. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Milliseconds; longer than the API server keeps an idle connection (90 s): otherwise the server
 * could close it while the API server sends a request, and the user's change would fail.
 */
const keepAliveTimeout = 120_000;

/** Serves admission reviews over HTTPS; resolves when it listens. */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { logger, host, port, clock, clients, stopping } = options;
  let { certificates } = options;
  const answer = createReviewHandler(options);
  /** The CAs that verified each connection. */
  const trusted = new WeakMap<Socket, string | undefined>();
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = await answer(request, response);
    // A connection must not wait for a next request while the server closes, or after the client's
    // CA has been removed.
    response.shouldKeepAlive &&=
      server.listening &&
      stopping?.aborted !== true &&
      trusted.get(request.socket) === clients?.authorities.pem;
    send();
  }
  const server = createServer(
    {
      ...contextOf(certificates, clients),
      ...(clients && demandCertificates),
      handshakeTimeout: 5_000,
      headersTimeout: 5_000,
      requestTimeout: 30_000,
      // Interval of Node's search for late clients (default: 30 s).
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout,
    },
    (request, response) => void serve(request, response),
  );
  guardConnections(server, (crowd) => {
    logger.warn(crowd, 'too many connections to the webhooks: the least useful ones are closed');
  });
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

/** Options of a new server: a connection needs a certificate of one of the CAs. */
const demandCertificates: TlsOptions = { requestCert: true, rejectUnauthorized: true };

/** Options of each later secure context. */
function authoritiesContext({ authorities }: TrustedClients): SecureContextOptions {
  return {
    // Without a list, Node would trust client certificates of public CAs.
    ca: authorities.pem ?? [],
    // A resumed session would keep its old verification result.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
