import { errorMessage, TerminalError } from '../errors.ts';
import { proxyProblem } from '../platform/net/index.ts';

/** The image is unavailable for now: no such tag, or the registry does not answer as expected. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/**
 * Bytes that are not those of their digest or size. Another attempt may get the right ones: a proxy
 * answered in place of the registry, or cut them off.
 */
export class MismatchError extends Error {
  override readonly name = 'MismatchError';
}

/** Adds the layer's digest to an error of its content. */
export function layerError(digest: string, error: unknown): unknown {
  const message = `layer ${digest}: ${errorMessage(error)}`;
  if (error instanceof MismatchError) return new MismatchError(message, { cause: error });
  if (!(error instanceof TerminalError)) return error;
  return new TerminalError(message, { cause: error });
}

/** The registry reports that it has no such image. */
export class MissingError extends UnavailableError {}

/** Whether all places that may have an image report that it does not exist. */
export function isMissing(error: unknown): boolean {
  if (error instanceof MissingError) return true;
  const { cause } = error instanceof Error ? error : {};
  return (
    cause instanceof AggregateError && cause.errors.length > 0 && cause.errors.every(isMissing)
  );
}

/** The registry or its token server refuses these credentials, or requires some. */
export class DeniedError extends Error {
  override readonly name = 'DeniedError';
}

/**
 * A request that a registry refused, in the words of go-containerregistry: the cause of an error
 * for OLM's conditions, which quote them.
 */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';

  constructor(method: string, url: string, status: string) {
    const hint = method === 'HEAD' ? ' (HEAD responses have no body, use GET for details)' : '';
    super(`${method} ${redacted(url)}: unexpected status code ${status}${hint}`);
  }
}

const shownParameters: ReadonlySet<string> = new Set(['scope', 'service', 'mount', 'from']);

/** As go-containerregistry does: addresses of storages are signed, and differ at each request. */
function redacted(url: string): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  for (const name of new Set(shown.searchParams.keys())) {
    if (!shownParameters.has(name)) shown.searchParams.set(name, 'REDACTED');
  }
  shown.searchParams.sort();
  return shown.href;
}

interface SystemError {
  readonly code?: string;
}

const lostCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  UND_ERR_SOCKET: 'connection closed before the answer was complete',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  UND_ERR_HEADERS_OVERFLOW: 'the header of its answer is too large',
  CERT_HAS_EXPIRED: 'its TLS certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER:
    'it does not speak TLS; plain HTTP is used only for hosts that --insecure-registry names',
};

/** Whether the connection of a request broke, so that the same request may succeed now. */
export function isConnectionLost(error: unknown): boolean {
  return lostCodes.has(codeOf(error));
}

/**
 * Error for a failed connection. Its text is the same at every try: no addresses, no local ports.
 */
export function connectionError(host: string, error: unknown): UnavailableError {
  if (error instanceof UnavailableError) return error;
  const cause = proxyProblem(error) ?? causes[codeOf(error)] ?? causeByMessage(error);
  return new UnavailableError(`registry ${host}: ${cause}`, { cause: error });
}

function causeByMessage(error: unknown): string {
  const message = errorMessage(error);
  if (/wrong version number|packet length too long/i.test(message)) {
    return causes['ERR_SSL_WRONG_VERSION_NUMBER'] ?? message;
  }
  if (/self.signed|certificate/i.test(message)) {
    return `its TLS certificate is not trusted: ${message}`;
  }
  return message;
}

/** Node reports one error per address that was tried. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const { code } = (error instanceof Error ? error : {}) as SystemError;
  return code ?? '';
}
