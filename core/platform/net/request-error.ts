import { errorMessage } from '../../errors.ts';
import { proxyProblem } from './proxy-problem.ts';

/**
 * A failed connection in the words of Go's client, which users of git know too:
 * `Get "<url>": dial tcp <address>: connect: connection refused`. Names no port of our own.
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
 * Why there is no connection, or no longer: as Go's programs say it.
 * @param caPlace where the user may say which authority to trust
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

/** The system's or undici's code for why there is no connection; empty where there is none. */
export function connectionCode(error: unknown): string {
  return systemErrorOf(error).code ?? '';
}

/** Node reports one error per address that was tried. */
function systemErrorOf(error: unknown): SystemError {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors[0] as SystemError;
  }
  if (!(error instanceof Error)) return {};
  // undici's "terminated" says why in its cause.
  return error.message === 'terminated' && error.cause instanceof Error
    ? (error.cause as SystemError)
    : (error as SystemError);
}
