import { Agent, request } from 'undici';
import type { KeyPair } from './certificates.ts';

const REQUEST_MILLISECONDS = 5_000;

export interface ApiResponse {
  readonly status: number;
  /** The parsed body; undefined when it is not JSON. */
  readonly body: unknown;
}

/** The few requests for starting a cluster. */
export interface ApiClient {
  get(path: string): Promise<ApiResponse>;
  create(path: string, body: object): Promise<ApiResponse>;
  close(): Promise<void>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function connectApi(server: string, ca: string, credentials: KeyPair): ApiClient {
  const dispatcher = new Agent({ connect: { ca, cert: credentials.cert, key: credentials.key } });
  async function ask(path: string, body?: object): Promise<ApiResponse> {
    const response = await request(`${server}${path}`, {
      dispatcher,
      method: body === undefined ? 'GET' : 'POST',
      signal: AbortSignal.timeout(REQUEST_MILLISECONDS),
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return { status: response.statusCode, body: parsed(await response.body.text()) };
  }
  return { get: (path) => ask(path), create: ask, close: () => dispatcher.destroy() };
}
