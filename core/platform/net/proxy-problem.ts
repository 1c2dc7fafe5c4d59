import { errorMessage } from '../../errors.ts';

/** What a proxy itself had against a request; undefined where the error is about something else. */
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
