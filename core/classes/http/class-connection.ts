import { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { createDispatcher, type ProxyConfig } from '../../platform/net/index.ts';
import { type ClassAddress, type Credentials, readCredentials } from './class-address.ts';
import type { RequestArchive } from './request-archive.ts';

export interface ClassConnectionOptions {
  readonly address: ClassAddress;
  /** A folder (default: none). */
  readonly credentials: string | undefined;
  readonly proxy: ProxyConfig | undefined;
}

export interface ClassRequest {
  /** Relative to the class's address. */
  readonly path: string;
  readonly accept: string;
  /** Body of a POST (default: none, and a GET). */
  readonly archive?: RequestArchive;
  readonly signal: AbortSignal;
}

export interface ClassAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Dispatcher.ResponseData['body'];
  /** The token that was sent, which messages must not quote. */
  readonly token: string | undefined;
}

interface Current {
  readonly credentials: Credentials;
  readonly dispatcher: Dispatcher;
}

const connectTimeout = 5_000;

/**
 * Requests to a server at once, which limits what a slow class takes of this process. One creator
 * can use four, and two are for creators that it keeps waiting.
 */
export const connections = 6;

/** Requests to the server of one class, with the folder's present credentials. */
export class ClassConnection {
  readonly #options: ClassConnectionOptions;
  #current: Current;

  private constructor(options: ClassConnectionOptions, credentials: Credentials) {
    this.#options = options;
    this.#current = this.#with(credentials);
  }

  /** @throws Error when the present credentials are unusable */
  static async open(options: ClassConnectionOptions): Promise<ClassConnection> {
    return new ClassConnection(options, await readCredentials(options.credentials));
  }

  /** Returns any answer; does not follow redirects. */
  async request({ path, accept, archive, signal }: ClassRequest): Promise<ClassAnswer> {
    const { credentials, dispatcher } = await this.#refreshed();
    const { token } = credentials;
    const { statusCode, headers, body } = await request(new URL(path, this.#options.address.url), {
      method: archive === undefined ? 'GET' : 'POST',
      headers: {
        accept,
        'accept-encoding': 'identity',
        'user-agent': 'rukpak-core',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(archive === undefined ? {} : headersOf(archive)),
      },
      body: archive === undefined ? null : Readable.from(archive.chunks()),
      dispatcher,
      signal,
    });
    return { status: statusCode, headers, body, token };
  }

  async close(): Promise<void> {
    await this.#current.dispatcher.destroy();
  }

  async #refreshed(): Promise<Current> {
    const credentials = await readCredentials(this.#options.credentials);
    if (JSON.stringify(credentials) === JSON.stringify(this.#current.credentials)) {
      return this.#current;
    }
    const { dispatcher: former } = this.#current;
    this.#current = this.#with(credentials);
    // Requests with the former credentials may finish.
    void former.close();
    return this.#current;
  }

  #with(credentials: Credentials): Current {
    const { caCertificates, clientCertificate } = credentials;
    const tls = { caCertificates, clientCertificate };
    const { proxy } = this.#options;
    // A server may work until the request's signal is aborted.
    const waiting = { connectTimeout, idleTimeout: 0, connections };
    return { credentials, dispatcher: createDispatcher({ proxy, ...tls, ...waiting }) };
  }
}

function headersOf({ byteLength }: RequestArchive): Record<string, string> {
  // The length, for servers that do not support chunked requests, such as Python's.
  return { 'content-type': 'application/x-tar', 'content-length': String(byteLength) };
}
