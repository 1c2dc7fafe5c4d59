import { errorMessage } from '../../errors.ts';

/**
 * A failed connection in the words that git users know (spec section 3.2):
 * `Get "<url>": dial tcp <address>: connect: connection refused`. Names no port of our own.
 */
export function requestError(method: 'GET' | 'POST', url: URL, error: unknown): Error {
  const verb = method === 'GET' ? 'Get' : 'Post';
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return new Error(`${verb} "${shown.href}": ${cause(error)}`, { cause: error });
}

function cause(error: unknown): string {
  const { code, address, port } = systemErrorOf(error);
  const where = address === undefined ? '' : `dial tcp ${address}:${port}: `;
  switch (code) {
    case 'ECONNREFUSED':
      return `${where}connect: connection refused`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${systemErrorOf(error).hostname ?? 'host'}: no such host`;
    case 'ECONNRESET':
      return `${where}connection reset by peer`;
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `${where}i/o timeout`;
    default:
      return errorMessage(error);
  }
}

interface SystemError {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/** Node reports one error per address that was tried. */
function systemErrorOf(error: unknown): SystemError {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors[0] as SystemError;
  }
  return error instanceof Error ? (error as SystemError) : {};
}
