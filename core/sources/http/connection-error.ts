import { proxyProblem } from '../../net/proxy-problem.ts';
import { requestError } from '../git/request-error.ts';

/** `Get "<url>": <cause>` for a request that got no answer, in the words of Go's client. */
export function connectionError(url: string, error: unknown): string {
  const cause = certificateProblem(error) ?? timeoutProblem(error) ?? proxyProblem(error);
  return cause === undefined
    ? requestError('GET', new URL(url), error).message
    : `Get "${url}": ${cause}`;
}

const unknownAuthority: ReadonlySet<string> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
]);

function certificateProblem(error: unknown): string | undefined {
  if (!unknownAuthority.has(codeOf(error))) return undefined;
  return 'tls: certificate signed by unknown authority: put the CA into the key ca.crt of the Secret that http.auth.secret names';
}

function timeoutProblem(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return 'the server does not answer';
  return code === 'UND_ERR_BODY_TIMEOUT' ? 'the server stopped sending' : undefined;
}

/** What broke while the body was being read. */
export function bodyError(url: URL, error: unknown): Error {
  const cause = timeoutProblem(error) ?? 'the server closed the connection';
  return new Error(`GET ${url.href}: reading the bundle content failed: ${cause}`, {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
