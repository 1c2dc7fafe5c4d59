import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { KeyPair } from '../core/platform/certificates/index.ts';
import { BodyBudget, type BodyReservation } from './body-budget.ts';
import {
  authoritiesContext,
  checkName,
  demandCertificates,
  type TrustedClients,
} from './clients.ts';
import type { Clock, Logger } from './cluster.ts';
import { guardConnections } from './connection-guard.ts';
import { HttpProblem } from './http-problem.ts';
import { readBody } from './read-body.ts';
import { observeRequest, pathOf, type RequestObserver } from './request-observer.ts';
import {
  type AdmissionRequest,
  type AdmissionReviewAnswer,
  type AdmissionValidator,
  type AdmissionVerdict,
  answerReview,
  errored,
  parseAdmissionReview,
} from './review.ts';

export interface WebhookServerOptions {
  /** All interfaces where absent. */
  readonly host?: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly certificates: KeyPair;
  /** Who is answered; anybody where absent. */
  readonly clients?: TrustedClients;
  readonly routes: ReadonlyMap<string, AdmissionValidator>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer?: RequestObserver;
}

interface Serving extends WebhookServerOptions {
  readonly budget: BodyBudget;
}

interface ReadingReview extends Serving {
  readonly reservation: BodyReservation;
  readonly signal: AbortSignal;
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
  const { routes, observer, logger, host, port, clock, clients } = options;
  let { certificates } = options;
  const budget = new BodyBudget();
  /** With whose authorities each connection was made. */
  const trusted = new WeakMap<Socket, string | undefined>();
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    // Paths of strangers are as many as they can think of.
    if (observer !== undefined && routes.has(path)) observeRequest(path, { response, observer });
    const send = await answer(request, response, { ...options, budget });
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
        const text = error instanceof Error ? error.message : String(error);
        logger.error({ error: text }, 'new serving certificate cannot be used; the old one stays');
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

/** What the API server waits at most, in milliseconds, where it does not say. */
const defaultTimeout = 10_000;

/** How long a request may be judged; ends a little before the API server stops to wait. */
function timeLimit({ url = '' }: IncomingMessage): number {
  const [, amount, unit] = /[?&]timeout=(\d+)(ms|s|m)(?:&|$)/.exec(url) ?? [];
  const scale = { ms: 1, s: 1_000, m: 60_000 }[unit ?? ''] ?? 0;
  const timeout = Number(amount ?? 0) * scale || defaultTimeout;
  return timeout - Math.min(1_000, timeout / 4);
}

/** Never rejects; resolves to the sending of the answer. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: Serving,
): Promise<() => void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the API server has closed the connection')));
  options.clock.sleep(timeLimit(request), gone.signal).then(
    () => gone.abort(new Error('the time of the admission request is over')),
    () => undefined,
  );
  try {
    const body = JSON.stringify(await review(request, options, gone.signal));
    return () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    };
  } catch (error) {
    return () => sendProblem(response, error, options.logger);
  }
}

async function review(
  request: IncomingMessage,
  options: Serving,
  signal: AbortSignal,
): Promise<AdmissionReviewAnswer> {
  const { clients, budget } = options;
  if (clients !== undefined) checkName(request.socket as TLSSocket, clients);
  const reservation = budget.open(request.socket.remoteAddress ?? '');
  try {
    return await judgeBody(request, { ...options, reservation, signal });
  } finally {
    reservation.close();
  }
}

async function judgeBody(
  request: IncomingMessage,
  { routes, logger, clock, reservation, signal }: ReadingReview,
): Promise<AdmissionReviewAnswer> {
  const path = pathOf(request);
  const validator = routes.get(path);
  if (validator === undefined) throw new HttpProblem(404, `there is no webhook at ${path}`);
  if (request.method !== 'POST') throw new HttpProblem(405, 'a webhook takes POST only');
  const admission = parse(await readBody(request, { reservation, clock }));
  const verdict = await judge(validator, admission, signal).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    logger.error(
      { path, uid: admission.uid, error: text },
      'admission request could not be judged',
    );
    return errored(500, text);
  });
  return answerReview(admission, verdict);
}

async function judge(
  validator: AdmissionValidator,
  request: AdmissionRequest,
  signal: AbortSignal,
): Promise<AdmissionVerdict> {
  return validator(request, signal);
}

function parse(body: string): AdmissionRequest {
  try {
    return parseAdmissionReview(body);
  } catch (error) {
    throw new HttpProblem(400, error instanceof Error ? error.message : String(error));
  }
}

function sendProblem(response: ServerResponse, error: unknown, logger: Logger): void {
  const text = error instanceof Error ? error.message : String(error);
  logger.warn({ error: text }, 'webhook request refused');
  const code = error instanceof HttpProblem ? error.code : 400;
  // A body that was not read to its end would block the connection's next request.
  response.shouldKeepAlive = false;
  response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}
