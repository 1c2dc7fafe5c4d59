import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { ContentKey } from '../../contracts/store.ts';
import type { ReceivedUpload, UploadStore } from '../../contracts/upload-store.ts';
import { errorMessage } from '../../errors.ts';
import { bundleNameOf } from '../archive.ts';
import { temporaryPath } from '../temporary-files.ts';
import { sendText } from '../text-response.ts';

/** The Bundles in the API server, without a cache. */
export interface UploadBundles {
  /** Undefined when there is none of that name. */
  find(name: string, signal: AbortSignal): Promise<Bundle | undefined>;
  /**
   * Writes into the Bundle's status that its content was uploaded, and whether these bytes are new.
   */
  announce(
    key: ContentKey,
    announcement: { readonly newDigest: string | undefined; readonly signal: AbortSignal },
  ): Promise<void>;
}

interface UploadHandlerOptions extends ReceiveOptions {
  readonly store: UploadStore;
  readonly bundles: UploadBundles;
}

/**
 * Milliseconds for everything before and after the body; each request to the API server has its own
 * limit.
 */
const timeLimit = 300_000;
/** Milliseconds that a refused client may go on sending, so that it can read the answer. */
const lingering = 2_000;

/** PUT and GET of `/uploads/<bundle>.tgz`, for authorized requests. */
export function createUploadHandler(options: UploadHandlerOptions): RequestHandler {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.put('/uploads/:file', (request, response, next) => {
    const name = bundleNameOf(request.params.file);
    return name === undefined ? next() : answerPut(options, name, { request, response });
  });
  router.get('/uploads/:file', (request, response, next) => {
    const name = bundleNameOf(request.params.file);
    return name === undefined ? next() : answerGet(options, name, response);
  });
  router.all('/uploads/:file', (request, response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD' || request.method === 'PUT')
      return next();
    response.set('Allow', 'GET, HEAD, PUT');
    sendText(response, 405, 'Method Not Allowed');
  });
  return router;
}

async function answerPut(
  options: UploadHandlerOptions,
  name: string,
  { request, response }: { readonly request: Request; readonly response: Response },
): Promise<void> {
  try {
    const stored = await put(options, name, { request, response });
    response.status(stored ? 201 : 204).end();
  } catch (error) {
    endAfterAnswer(request, response);
    if (!(error instanceof UploadRefusal)) throw error;
    sendText(response, error.status, error.message);
  }
}

/** Returns whether the content is new. */
async function put(
  options: UploadHandlerOptions,
  name: string,
  { request, response }: { readonly request: Request; readonly response: Response },
): Promise<boolean> {
  await uploadBundle(options, name);
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > options.maxBytes) throw tooLarge(options.maxBytes);
  if (request.headers.expect !== undefined) response.writeContinue();
  const upload = await receiveUpload(request, options);
  try {
    return await store(options, name, upload);
  } finally {
    await rm(upload.path, { force: true });
  }
}

async function store(
  { store, bundles }: UploadHandlerOptions,
  name: string,
  upload: ReceivedUpload,
): Promise<boolean> {
  const signal = AbortSignal.timeout(timeLimit);
  // The Bundle may have changed while the body arrived.
  const bundle = await uploadBundle({ bundles }, name);
  const key = { name, uid: bundle.metadata.uid ?? '' };
  const isKnown = (await store.digest(key, signal).catch(fail)) === upload.digest;
  if (!isKnown) {
    if (bundle.status?.phase === 'Unpacked') {
      const text = 'bundle has already been unpacked, cannot change content of existing bundle';
      throw new UploadRefusal(409, text);
    }
    await store.put(key, upload, signal).catch(fail);
  }
  // Also for known content: the process that stored it may have ended before the announcement.
  const newDigest = isKnown ? undefined : upload.digest;
  await bundles.announce(key, { newDigest, signal });
  return !isKnown;
}

function fail(error: unknown): never {
  throw notStored(error);
}

/** The Bundle of that name, if it accepts uploads. */
async function uploadBundle(
  { bundles }: Pick<UploadHandlerOptions, 'bundles'>,
  name: string,
): Promise<Bundle> {
  const bundle = await bundles.find(name, AbortSignal.timeout(timeLimit));
  if (bundle === undefined) {
    throw new UploadRefusal(404, `Bundle.core.rukpak.io "${name}" not found`);
  }
  const { type } = bundle.spec.source;
  if (type === 'upload') return bundle;
  throw new UploadRefusal(409, `bundle source type is "${type}"; expected "upload"`);
}

/** For HEAD too: Node omits the body. */
async function answerGet(
  { store, bundles }: UploadHandlerOptions,
  name: string,
  response: Response,
): Promise<void> {
  const signal = AbortSignal.timeout(timeLimit);
  const uid = (await bundles.find(name, signal))?.metadata.uid;
  const upload = uid === undefined ? undefined : await store.read({ name, uid }, signal);
  if (upload === undefined) return sendText(response, 404, '404 page not found');
  response.set('Content-Type', 'application/x-compressed-tar');
  // A client that disconnects early is not an error; a client that stays must not take a part for
  // the whole.
  await pipeline(upload, response).catch(() => response.destroy());
}

/** Discards an unwanted body for a moment, because closing the connection would hide the answer. */
function endAfterAnswer(request: Request, response: Response): void {
  response.once('finish', () => {
    if (request.complete) return;
    const timer = setTimeout(() => request.destroy(), lingering);
    request.once('close', () => clearTimeout(timer));
  });
}

interface ReceiveOptions {
  /** Folder of the temporary file: on the file system of a store that keeps files. */
  readonly directory: string;
  readonly maxBytes: number;
}

/**
 * Writes a body to a file, synced to disk. Deletes an incomplete file.
 * @throws UploadRefusal with RukPak's words
 */
export async function receiveUpload(
  body: AsyncIterable<Uint8Array>,
  { directory, maxBytes }: ReceiveOptions,
): Promise<ReceivedUpload> {
  const path = temporaryPath(directory);
  const hash = createHash('sha256');
  let size = 0;
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of readable(body)) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      hash.update(chunk);
      yield chunk;
    }
  }
  try {
    await writeFile(path, measured());
  } catch (error) {
    await rm(path, { force: true });
    throw error instanceof UploadRefusal ? error : notStored(error);
  }
  return { path, size, digest: hash.digest('hex') };
}

/** The refusal after an error of the disk or the cluster. */
function notStored(error: unknown): UploadRefusal {
  return new UploadRefusal(500, `failed to store bundle data: ${errorMessage(error)}`, {
    cause: error,
  });
}

async function writeFile(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function* readable(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new UploadRefusal(500, `read request body: ${errorMessage(error)}`, { cause: error });
  }
}

/** The reason for refusing a PUT, for the answer. */
export class UploadRefusal extends Error {
  override readonly name = 'UploadRefusal';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

function tooLarge(limit: number): UploadRefusal {
  return new UploadRefusal(
    413,
    `the upload is larger than the limit of ${limit} bytes (--max-upload-bytes)`,
  );
}
