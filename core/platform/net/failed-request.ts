import { errorMessage } from '../../errors.ts';
import type { Clock } from '../clock.ts';

/**
 * A failed connection in the words of Go's client, which users of git know: `Get "<url>": dial tcp
 * <address>: connect: connection refused`. Omits the local port.
 */
export function requestError(method: 'GET' | 'POST', url: URL, error: unknown): Error {
  const verb = method === 'GET' ? 'Get' : 'Post';
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  const problem = proxyProblem(error) ?? connectionProblem(error);
  return new Error(`${verb} "${shown.href}": ${problem}`, { cause: error });
}

const sourcesPlace = 'key "ca.crt" of the Secret that auth.secret names';

/**
 * Why a connection failed or broke, in the words of Go's programs.
 * @param caPlace the place where the user can configure an authority
 */
export function connectionProblem(error: unknown, caPlace = sourcesPlace): string {
  const { code = '', address, port, hostname = 'host' } = systemErrorOf(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `dial tcp: lookup ${hostname}: no such host`;
  }
  const dialed = dialProblems[code];
  if (dialed !== undefined) {
    return address === undefined ? dialed : `dial tcp ${address}:${port}: ${dialed}`;
  }
  if (unknownAuthority.has(code)) {
    return `x509: certificate signed by unknown authority: put its certificate into ${caPlace}`;
  }
  return problems[code] ?? errorMessage(error);
}

const dialProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'connection reset by peer',
  ETIMEDOUT: 'i/o timeout',
  UND_ERR_CONNECT_TIMEOUT: 'i/o timeout',
};

const unknownAuthority: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const problems: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'the server closed the connection too early',
  UND_ERR_HEADERS_TIMEOUT: 'the server was silent for too long',
  UND_ERR_BODY_TIMEOUT: 'the server was silent for too long',
};

interface SystemError {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/** The error code of the system or of undici; empty without one. */
export function connectionCode(error: unknown): string {
  return systemErrorOf(error).code ?? '';
}

/** Node reports one error per attempted address. */
function systemErrorOf(error: unknown): SystemError {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors[0] as SystemError;
  }
  if (!(error instanceof Error)) return {};
  // undici's "terminated" has its reason in the cause.
  return error.message === 'terminated' && error.cause instanceof Error
    ? (error.cause as SystemError)
    : (error as SystemError);
}

/** The proxy's own problem with a request; undefined for another error. */
export function proxyProblem(error: unknown): string | undefined {
  const status = /^Proxy .*\((\d{3})\)/.exec(errorMessage(error))?.[1];
  if (status === '407') {
    return 'the proxy answered 407 Proxy Authentication Required: its address must hold the right credentials';
  }
  if (status !== undefined) return `the proxy answered ${status} to the request for a connection`;
  const code = error instanceof Error ? (error as { readonly code?: string }).code : undefined;
  if (code === 'UND_ERR_PRX_TLS') return 'the TLS certificate of the proxy is for another host';
  return code === 'UND_ERR_PRX_CONN' ? 'the proxy closed the connection' : undefined;
}

/** Why a request must be repeated. */
export interface Failure {
  readonly error: Error;
  /** The server works, but limits the rate of requests. */
  readonly isBusy: boolean;
  /** The Retry-After header. */
  readonly retryAfter?: string | string[] | undefined;
}

const maxRetries = 2;
/** Enough for a registry that refuses every other request. */
const maxBusyRetries = 6;
const firstDelay = 200;
const maxRetryAfter = 20_000;
/** Milliseconds of all waits together. */
const maxWaiting = 30_000;

/** How often and when a request is repeated. Times are in milliseconds. */
export class RetryPolicy {
  readonly #clock: Clock;
  #retries = 0;
  #waited = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves when the request may be repeated.
   * @throws the failure's error when it may not: the server wants, or has wanted, too long a wait
   */
  async wait({ error, isBusy, retryAfter }: Failure, signal: AbortSignal): Promise<void> {
    const asked = this.#millisecondsOf(retryAfter);
    const delay = Math.max(asked, firstDelay * 2 ** this.#retries);
    this.#retries += 1;
    this.#waited += delay;
    const isLast = this.#retries > (isBusy ? maxBusyRetries : maxRetries);
    if (isLast || asked > maxRetryAfter || this.#waited > maxWaiting) throw error;
    await this.#clock.sleep(delay, signal);
  }

  /** From a Retry-After header, in seconds or as a date; 0 without a value. */
  #millisecondsOf(value: Failure['retryAfter']): number {
    if (typeof value !== 'string') return 0;
    if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1000;
    const date = Date.parse(value);
    return Number.isNaN(date) ? 0 : Math.max(0, date - this.#clock.now());
  }
}
