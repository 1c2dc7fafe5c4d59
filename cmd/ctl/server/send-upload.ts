import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { packBundle } from '../../../core/content/index.ts';
import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { Backoff } from '../../../core/platform/clock.ts';
import type { ContentServer } from './content-server.ts';

interface SendOptions {
  readonly bundle: string;
  readonly archive: Uint8Array;
  readonly signal: AbortSignal;
  /** Milliseconds during which failures are retried. */
  readonly patience: number;
}

/** Whether the server had the same content already. */
export type Sent = 'uploaded' | 'up-to-date';

const chunkSize = 65_536;
/** Milliseconds without a byte: an upload may last as long as it makes progress. */
const idleTimeout = 10_000;
/** Milliseconds after the last byte: the server may have to store the content first. */
const answerTimeout = 60_000;

/**
 * Uploads an archive as the content of a Bundle. Retries a lost connection, a busy server, and a
 * Bundle that the server has not seen yet.
 * @throws TerminalError with the server's message; the last error at the end of `patience`.
 */
export async function sendUpload(server: ContentServer, options: SendOptions): Promise<Sent> {
  const deadline = Date.now() + options.patience;
  const backoff = new Backoff({ initial: 200, max: 3_000 });
  for (;;) {
    try {
      return await sendOnce(server, options);
    } catch (error) {
      options.signal.throwIfAborted();
      if (error instanceof TerminalError || Date.now() >= deadline) throw error;
      await delay(backoff.next(), undefined, { signal: options.signal });
    }
  }
}

async function sendOnce(server: ContentServer, options: SendOptions): Promise<Sent> {
  const { bundle, archive } = options;
  const watch = new IdleWatch();
  try {
    const { statusCode, body } = await server.request({
      method: 'PUT',
      path: `/uploads/${encodeURIComponent(bundle)}.tgz`,
      headers: {
        'content-length': String(archive.byteLength),
        'content-type': 'application/gzip',
      },
      body: chunks(archive, watch),
      signal: AbortSignal.any([options.signal, watch.signal]),
    });
    return outcome(statusCode, await body.text());
  } catch (error) {
    if (error instanceof TerminalError) throw error;
    const problem = watch.signal.aborted ? watch.signal.reason : error;
    throw new Error(`cannot upload to the content server: ${errorMessage(problem)}`, {
      cause: error,
    });
  } finally {
    watch.end();
  }
}

async function* chunks(bytes: Uint8Array, watch: IdleWatch): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += chunkSize) {
    watch.expect(idleTimeout);
    yield bytes.subarray(start, start + chunkSize);
  }
  watch.expect(answerTimeout);
}

/** Aborts a request without progress in time. */
class IdleWatch {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.expect(idleTimeout);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  expect(ms: number): void {
    this.end();
    const reason = new Error(`nothing was heard of it for ${ms / 1000} s`);
    this.#timer = setTimeout(() => this.#controller.abort(reason), ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function outcome(status: number, text: string): Sent {
  const said = text.trim().slice(0, 1000);
  switch (status) {
    case 201:
      return 'uploaded';
    case 204:
      return 'up-to-date';
    case 401:
      throw new TerminalError(
        'the content server does not accept the credentials of the kubeconfig: choose another user with --context or --kubeconfig',
      );
    case 403:
      throw new TerminalError(`${said}: bind the ClusterRole bundle-uploader to this user`);
    default:
      if (mayPass(status)) throw new Error(`HTTP status ${status}: ${said}`);
      throw new TerminalError(said === '' ? `HTTP status ${status}` : said);
  }
}

/**
 * True for 404, because the server's cache may lag. A conflict with other content is final, and has
 * its own text.
 */
function mayPass(status: number): boolean {
  return status === 404 || status === 408 || status === 429 || status >= 500;
}

/** Content as it is uploaded: equal files make equal bytes, on every machine. */
interface BundleUpload {
  readonly archive: Uint8Array;
  /** FNV-1a of the archive, in hexadecimal: the Bundle's label `bundleDigest`. */
  readonly digest: string;
}

/** Kept in memory: its digest names the Bundle, and a retry sends it again. */
export async function packUpload(files: BundleFiles): Promise<BundleUpload> {
  const archive = await buffer(packBundle(files));
  return { archive, digest: fnv1a64(archive) };
}

const prime = 0x1b3n;
const start = 0xcbf29ce484222325n;
const low = 0xffff_ffffn;

/** FNV-1a of 64 bits in the format of Go's `%x`: lower case, without leading zeros. */
export function fnv1a64(bytes: Uint8Array): string {
  // Two 32-bit halves: a BigInt per byte would take seconds for a bundle of many megabytes.
  let high = Number(start >> 32n);
  let rest = Number(start & low);
  const multiplier = Number(prime);
  for (const byte of bytes) {
    rest = (rest ^ byte) >>> 0;
    const product = rest * multiplier;
    // The prime is 2^40 + 0x1b3: its high part shifts the low half by 8 bits into the high one.
    high = (Math.imul(high, multiplier) + Math.floor(product / 0x1_0000_0000) + (rest << 8)) >>> 0;
    rest = product % 0x1_0000_0000;
  }
  return ((BigInt(high) << 32n) | BigInt(rest)).toString(16);
}
