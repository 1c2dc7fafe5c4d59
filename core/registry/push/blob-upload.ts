import { ByteReader } from '../../content/index.ts';
import { TerminalError } from '../../errors.ts';
import { RetryPolicy } from '../../platform/net/index.ts';
import type { BlobToPush } from '../configuration/place.ts';
import { discard, type TransportResponse } from '../http/response.ts';
import type { RegistryClient } from '../registry-client.ts';
import { DeniedError, UnavailableError } from '../registry-errors.ts';
import { withChunkBuffer } from './chunk-buffers.ts';
import { refusedPush } from './refused-push.ts';
import { endOf, type Session, sessionOf } from './upload-session.ts';

const mebibyte = 1024 * 1024;
/** Maximum bytes of a blob in one request: restarting such an upload costs little. */
const maxMonolithic = 32 * mebibyte;
/**
 * Bytes in memory until the registry has them; the minimum chunk of registries on object stores.
 */
const defaultChunk = 5 * mebibyte;
const maxChunk = 64 * mebibyte;
/** Maximum consecutive resumes without progress. */
const maxResumes = 4;
/** Milliseconds. Registries move a blob to its place, or read it again, before they answer. */
const answerTimeout = 300_000;

/** The registry refuses chunks, or no longer knows the upload. */
class LostSession extends UnavailableError {}

/** Sends one blob to a repository, in one request or in chunks; resumes a lost chunk. */
export class BlobUpload {
  readonly #client: RegistryClient;
  readonly #blob: BlobToPush;
  readonly #signal: AbortSignal;

  constructor(client: RegistryClient, blob: BlobToPush, signal: AbortSignal) {
    this.#client = client;
    this.#blob = blob;
    this.#signal = signal;
  }

  async run(): Promise<'mounted' | 'pushed'> {
    const retries = new RetryPolicy(this.#client.clock);
    let isChunked = this.#blob.descriptor.size > maxMonolithic;
    for (;;) {
      const session = await this.#start();
      if (session === undefined) return 'mounted';
      try {
        await (isChunked ? this.#inChunks(session) : this.#atOnce(session));
        return 'pushed';
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!(error instanceof UnavailableError)) throw error;
        // Some registries accept no chunks at all.
        if (error instanceof LostSession) isChunked = false;
        await retries.wait({ error, isBusy: false }, this.#signal);
      }
    }
  }

  /** Starts an upload; undefined if the registry has mounted the blob from another repository. */
  async #start(): Promise<Session | undefined> {
    const offered = await this.#mount();
    if (offered?.status === 201) {
      await discard(offered);
      return undefined;
    }
    const response = offered ?? (await this.#send('blobs/uploads/', { method: 'POST' }));
    await this.#expect(response, 202);
    return sessionOf(response, this.#client);
  }

  /**
   * The answer to a mount from another repository; undefined without one, or if the registry refuses
   * it: the credentials may be for the target alone.
   */
  async #mount(): Promise<TransportResponse | undefined> {
    const { descriptor, mountFrom } = this.#blob;
    if (mountFrom === undefined) return undefined;
    const query = new URLSearchParams({ mount: descriptor.digest, from: mountFrom }).toString();
    try {
      const response = await this.#send(`blobs/uploads/?${query}`, { method: 'POST' });
      if (response.status === 201 || response.status === 202) return response;
      await discard(response);
    } catch (error) {
      if (!(error instanceof DeniedError)) throw error;
    }
    return undefined;
  }

  async #atOnce(session: Session): Promise<void> {
    const blob = this.#blob;
    const response = await this.#send(endOf(session, this.#blob.descriptor), {
      method: 'PUT',
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': String(blob.descriptor.size),
      },
      body: () => blob.open(),
      once: true,
    });
    await this.#expect(response, 201);
  }

  async #inChunks(first: Session): Promise<void> {
    const reader = new ByteReader(asAsync(this.#blob.open()), this.#signal);
    const length = Math.min(Math.max(defaultChunk, first.minChunk), maxChunk);
    try {
      const last = await withChunkBuffer(length, (buffer) =>
        this.#sendChunks(first, reader, buffer.subarray(0, length)),
      );
      // Also verifies the content as a whole.
      if ((await reader.next()) !== undefined) throw this.#ended('more than');
      await this.#expect(
        await this.#send(endOf(last, this.#blob.descriptor), { method: 'PUT' }),
        201,
      );
    } finally {
      reader.release();
    }
  }

  async #sendChunks(first: Session, reader: ByteReader, buffer: Uint8Array): Promise<Session> {
    const { size } = this.#blob.descriptor;
    let session = first;
    for (let offset = 0; offset < size; ) {
      const length = Math.min(buffer.byteLength, size - offset);
      const chunk = await reader.readInto(buffer.subarray(0, length));
      if (chunk.byteLength === 0) throw this.#ended(offset);
      session = await this.#chunk(session, chunk, offset);
      offset += chunk.byteLength;
    }
    return session;
  }

  /** Sends a chunk; after a failure, only the part that the registry does not have. */
  async #chunk(first: Session, chunk: Uint8Array, offset: number): Promise<Session> {
    const retries = new RetryPolicy(this.#client.clock);
    let session = first;
    let sent = 0;
    for (let resumes = 0; ; resumes += 1) {
      try {
        return await this.#patch(session, chunk.subarray(sent), offset + sent);
      } catch (error) {
        this.#signal.throwIfAborted();
        const isOver = error instanceof LostSession || resumes === maxResumes;
        if (isOver || !(error instanceof UnavailableError)) throw error;
        await retries.wait({ error, isBusy: true }, this.#signal);
      }
      const state = await this.#state(session);
      const there = state.received - offset;
      if (there < 0 || there > chunk.byteLength) throw lost(this.#client, 'other bytes');
      session = state.session;
      if (there === chunk.byteLength) return session;
      if (there > sent) resumes = -1;
      sent = there;
    }
  }

  async #patch(session: Session, bytes: Uint8Array, offset: number): Promise<Session> {
    const response = await this.#send(session.location, {
      method: 'PATCH',
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': String(bytes.byteLength),
        'content-range': `${offset}-${offset + bytes.byteLength - 1}`,
      },
      body: bytes,
      once: true,
    });
    if (response.status === 202 || response.status === 204) {
      await discard(response);
      return sessionOf(response, this.#client, session);
    }
    if (response.status === 416) {
      await discard(response);
      throw new UnavailableError(`registry ${this.#client.domain} refused the range of a chunk`);
    }
    const refusal = await refusedPush(response, this.#what());
    throw isAboutChunks(response.status) ? new LostSession(refusal.message) : refusal;
  }

  /** How many bytes of the upload the registry has, and where it takes the rest. */
  async #state(
    session: Session,
  ): Promise<{ readonly session: Session; readonly received: number }> {
    const response = await this.#send(session.location, { method: 'GET' });
    await discard(response);
    const end = /(\d+)$/.exec(String(response.headers['range'] ?? ''))?.[1];
    if (response.status !== 204 || end === undefined) throw lost(this.#client, 'nothing');
    // Registries write `0-0` for an empty upload, too.
    const received = end === '0' ? 0 : Number(end) + 1;
    return { session: sessionOf(response, this.#client, session), received };
  }

  async #send(
    path: string | URL,
    wanted: Omit<Parameters<RegistryClient['request']>[1], 'signal'>,
  ): Promise<TransportResponse> {
    const request = { ...wanted, answerTimeout, signal: this.#signal };
    return await this.#client.request(typeof path === 'string' ? path : path.href, request);
  }

  async #expect(response: TransportResponse, status: number): Promise<void> {
    if (response.status !== status) throw await refusedPush(response, this.#what());
    await discard(response);
  }

  #what(): string {
    return `blob ${this.#blob.descriptor.digest} for ${this.#client.name}`;
  }

  #ended(bytes: number | string): TerminalError {
    const { digest, size } = this.#blob.descriptor;
    return new TerminalError(`blob ${digest} has ${bytes} bytes instead of ${size}`);
  }
}

function isAboutChunks(status: number): boolean {
  return [400, 404, 405, 411, 413, 501].includes(status);
}

function lost({ domain }: RegistryClient, what: string): LostSession {
  return new LostSession(`registry ${domain} has ${what} of an upload that broke off`);
}

async function* asAsync(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* bytes;
}
