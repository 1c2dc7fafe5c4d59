import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../contracts/logger.ts';
import { errorMessage } from '../../errors.ts';
import { aborted } from '../clock.ts';
import { guardConnections } from '../connection-guard.ts';

/** Throws, or rejects with, the reason of a failure. */
type HealthCheck = () => void | Promise<void>;

export interface HealthServerOptions {
  /** In the format of parseBindAddress. */
  readonly bindAddress: string;
  /** By name; a failing check means that the process must be restarted. */
  readonly healthChecks?: Readonly<Record<string, HealthCheck>>;
  /** By name; a failing check means that the process must get no traffic. */
  readonly readyChecks?: Readonly<Record<string, HealthCheck>>;
  readonly logger: Logger;
}

/** /healthz and /readyz: `ok`, or the failing checks with status 500. */
export class HealthServer {
  readonly name = 'health server';
  readonly #options: HealthServerOptions;
  readonly #bind: BindAddress | undefined;
  readonly #listening = Promise.withResolvers<void>();
  #address: AddressInfo | undefined;

  constructor(options: HealthServerOptions) {
    this.#options = options;
    this.#bind = parseBindAddress(options.bindAddress);
  }

  /** The address it listens on; undefined before that, and when it is disabled. */
  get address(): AddressInfo | undefined {
    return this.#address;
  }

  /** Resolves when it listens; at once when it is disabled. */
  async ready(): Promise<void> {
    await this.#listening.promise;
  }

  /** Serves until the signal is aborted; rejects when the address is not available. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#bind === undefined) {
      this.#listening.resolve();
      await aborted(signal);
      return;
    }
    const server = createServer((request, response) => void this.#answer(request, response));
    server.requestTimeout = 10_000;
    guardConnections(server, (crowd) => {
      const message = 'too many connections to the health server: the least useful ones are closed';
      this.#options.logger.warn(crowd, message);
    });
    await listen(server, this.#bind, this.#options.bindAddress);
    this.#address = server.address() as AddressInfo;
    this.#listening.resolve();
    await aborted(signal);
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client may send an invalid URL.
    const [path = ''] = (request.url ?? '').split('?', 1);
    const checks = this.#checksFor(path);
    if (checks === undefined) {
      respond(response, 404, 'not found\n');
      return;
    }
    const failures = await failuresOf(checks);
    if (failures.length === 0) {
      respond(response, 200, 'ok');
      return;
    }
    this.#options.logger.debug({ path, failures }, 'a health check fails');
    respond(response, 500, `${failures.join('\n')}\n`);
  }

  #checksFor(path: string): Readonly<Record<string, HealthCheck>> | undefined {
    if (path === '/healthz') return this.#options.healthChecks ?? {};
    if (path === '/readyz') return this.#options.readyChecks ?? {};
    return undefined;
  }
}

async function failuresOf(checks: Readonly<Record<string, HealthCheck>>): Promise<string[]> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await check();
        return [];
      } catch (error) {
        return [`[-]${name} failed: ${errorMessage(error)}`];
      }
    }),
  );
  return results.flat();
}

async function listen(server: Server, { host, port }: BindAddress, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Error(`cannot listen on ${text}: ${error.message}`, { cause: error })),
    );
    server.listen({ port, host }, resolve);
  });
}

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}

export interface BindAddress {
  /** Default: all addresses. */
  readonly host?: string;
  /** 0 picks a free one. */
  readonly port: number;
}

/**
 * `:8081`, `127.0.0.1:0` or `[::1]:8081`; `0` disables the server and returns undefined.
 * @throws Error for anything else.
 */
export function parseBindAddress(text: string): BindAddress | undefined {
  if (text === '0') return undefined;
  const [, bracketed, plain, digits] = pattern.exec(text) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) {
    throw new Error(`"${text}" is not an address to listen on: use host:port, :port, or 0 for off`);
  }
  const host = bracketed || plain;
  return host ? { host, port } : { port };
}

const pattern = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/\s]*)):([0-9]{1,5})$/;
