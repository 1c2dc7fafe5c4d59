import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '../core/contracts/logger.ts';
import { errorMessage } from '../core/errors.ts';
import type { Clock } from '../core/platform/clock.ts';
import { BodyBudget, type BodyReservation, HttpProblem, readBody } from './request-body.ts';
import {
  type AdmissionRequest,
  type AdmissionReviewAnswer,
  type AdmissionValidator,
  type AdmissionVerdict,
  answerReview,
  errored,
  parseAdmissionReview,
} from './review.ts';

/** The clients that may call the webhooks: the API server, identified by its client certificate. */
export interface TrustedClients {
  /** CAs of client certificates; no client is trusted while `pem` is undefined. */
  readonly authorities: {
    readonly pem: string | undefined;
    onChange(listener: () => void): void;
  };
  /** Common names of the clients; any if empty. */
  readonly names: readonly string[];
}

/** Observes each request to a webhook, by the webhook's path. */
export interface RequestObserver {
  began(webhook: string): void;
  answered(webhook: string, code: number, seconds: number): void;
}

export interface ReviewHandlerOptions {
  /** Clients that are answered (default: all). */
  readonly clients?: TrustedClients;
  readonly routes: ReadonlyMap<string, AdmissionValidator>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer?: RequestObserver;
}

interface Serving extends ReviewHandlerOptions {
  readonly budget: BodyBudget;
}

interface ReadingReview extends Serving {
  readonly reservation: BodyReservation;
  readonly signal: AbortSignal;
}

/** Judges a request; never rejects, and resolves to a function that sends the answer. */
type ReviewHandler = (request: IncomingMessage, response: ServerResponse) => Promise<() => void>;

/** Judges admission reviews by the validators of their paths. */
export function createReviewHandler(options: ReviewHandlerOptions): ReviewHandler {
  const { routes, observer } = options;
  const serving = { ...options, budget: new BodyBudget() };
  return async (request, response) => {
    const path = pathOf(request);
    // Unknown paths would make an unlimited number of labels.
    if (observer !== undefined && routes.has(path)) observeRequest(path, { response, observer });
    return await answer(request, response, serving);
  };
}

/** The API server's maximum wait in milliseconds, if the request names none. */
const defaultTimeout = 10_000;

/** The API server's longest wait: other clients could ask for any. */
const maxTimeout = 30_000;

/** Milliseconds for judging a request; shorter than the API server's wait. */
function timeLimit({ url = '' }: IncomingMessage): number {
  const [, amount, unit] = /[?&]timeout=(\d+)(ms|s|m)(?:&|$)/.exec(url) ?? [];
  const scale = { ms: 1, s: 1_000, m: 60_000 }[unit ?? ''] ?? 0;
  const timeout = Math.min(Number(amount ?? 0) * scale || defaultTimeout, maxTimeout);
  return timeout - Math.min(1_000, timeout / 4);
}

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
  const sent = parse(await readBody(request, { reservation, clock }));
  const admission = { ...sent, client: request.socket.remoteAddress ?? '' };
  const verdict = await judge(validator, admission, signal).catch((error: unknown) => {
    const text = errorMessage(error);
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

function parse(body: string): ReturnType<typeof parseAdmissionReview> {
  try {
    return parseAdmissionReview(body);
  } catch (error) {
    throw new HttpProblem(400, errorMessage(error));
  }
}

function sendProblem(response: ServerResponse, error: unknown, logger: Logger): void {
  const text = errorMessage(error);
  logger.warn({ error: text }, 'webhook request refused');
  const code = error instanceof HttpProblem ? error.code : 400;
  // A partly read body would block the connection's next request.
  response.shouldKeepAlive = false;
  response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

/** Reports a request to the observer, from now to the end of its answer. */
function observeRequest(
  webhook: string,
  { response, observer }: { response: ServerResponse; observer: RequestObserver },
): void {
  const startedAt = performance.now();
  observer.began(webhook);
  response.once('close', () => {
    const seconds = (performance.now() - startedAt) / 1000;
    observer.answered(webhook, response.statusCode, seconds);
  });
}

/** The path of a request without its query. */
function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

/** @throws HttpProblem 403 for a client whose name is not listed. */
function checkName(socket: TLSSocket, { names }: TrustedClients): void {
  if (names.length === 0) return;
  const { CN: name } = socket.getPeerCertificate().subject ?? {};
  if (typeof name === 'string' && names.includes(name)) return;
  throw new HttpProblem(
    403,
    `the client certificate of ${JSON.stringify(name ?? '')} is not that of a client which --client-name allows`,
  );
}
