import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { creatorOfUser } from '../../../api/v1alpha1/rules/creator.ts';
import { acceptsUpload } from '../../../api/v1alpha1/rules/upload-pin.ts';
import type { ContentKey } from '../../contracts/store.ts';
import type { ReceivedUpload, UploadStore } from '../../contracts/upload-store.ts';
import type { Clock } from '../../platform/clock.ts';
import { Shares } from '../../platform/shares.ts';
import { bundleNameOf } from '../archive.ts';
import { sendText } from '../text-response.ts';
import {
  notStored,
  type ReceiveOptions,
  receiveUpload,
  tooLarge,
  UploadRefusal,
} from './receive-upload.ts';
import { UploadPlaces } from './upload-places.ts';

/** The Bundles in the API server, without a cache. */
export interface UploadBundles {
  /** Undefined when there is none of that name. */
  find(name: string, signal: AbortSignal): Promise<Bundle | undefined>;
  /**
   * Changes the Bundle, so that an unpacking of earlier bytes does not count; false if it was
   * unpacked from others already.
   */
  claim(
    key: ContentKey,
    upload: { readonly digest: string; readonly signal: AbortSignal },
  ): Promise<boolean>;
  /**
   * Writes into the Bundle's status that its content was uploaded; false if it was unpacked from
   * other bytes meanwhile.
   */
  announce(
    key: ContentKey,
    announcement: {
      readonly digest: string;
      readonly isNew: boolean;
      readonly signal: AbortSignal;
    },
  ): Promise<boolean>;
}

interface UploadHandlerOptions extends Omit<ReceiveOptions, 'place'> {
  readonly clock: Pick<Clock, 'sleep' | 'monotonic'>;
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
/** Seconds. */
const retryAfter = '5';

/** PUT, GET and HEAD of `/uploads/<bundle>.tgz`, for authorized requests. */
export function createUploadHandler(options: UploadHandlerOptions): RequestHandler {
  const router = express.Router({ caseSensitive: true, strict: true });
  const places = new UploadPlaces(options.clock);
  const ofBundles = new Shares({ each: 1 });
  router.put('/uploads/:file', (request, response, next) => {
    const name = bundleNameOf(request.params.file);
    return name === undefined
      ? next()
      : answerPut({ ...options, places, ofBundles }, name, { request, response });
  });
  router.head('/uploads/:file', (request, response, next) => {
    const name = bundleNameOf(request.params.file);
    return name === undefined ? next() : answerHead(options, name, response);
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

interface Receiver extends UploadHandlerOptions {
  readonly places: UploadPlaces;
  /** By UID: each holds the old content of its Bundle and the new one. */
  readonly ofBundles: Shares;
}

async function answerPut(
  options: Receiver,
  name: string,
  { request, response }: { readonly request: Request; readonly response: Response },
): Promise<void> {
  try {
    const stored = await put(options, name, { request, response });
    response.status(stored ? 201 : 204).end();
  } catch (error) {
    endAfterAnswer(request, response);
    if (!(error instanceof UploadRefusal)) throw error;
    if (error.status === 429 || error.status === 503) response.set('Retry-After', retryAfter);
    sendText(response, error.status, error.message);
  }
}

/** Returns whether the content is new. */
async function put(
  options: Receiver,
  name: string,
  { request, response }: { readonly request: Request; readonly response: Response },
): Promise<boolean> {
  const creator = creatorOfUser(String(response.locals['user'] ?? ''));
  using place = await options.places.take(creator);
  const { uid = '' } = (await uploadBundle(options, name)).metadata;
  using _ofBundle = turnOf({ name, uid }, options.ofBundles);
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > options.maxBytes) throw tooLarge(options.maxBytes);
  if (request.headers.expect !== undefined) response.writeContinue();
  const upload = await receiveUpload(request, { ...options, place });
  // Storing it may take longer than a client may be silent.
  response.setTimeout(2 * timeLimit);
  try {
    return await store(options, { name, uid }, upload);
  } finally {
    await rm(upload.path, { force: true });
  }
}

/**
 * Until it is disposed, no other upload of the Bundle runs.
 * @throws UploadRefusal when one runs already
 */
function turnOf({ name, uid }: ContentKey, running: Shares): Disposable {
  if (running.take(uid) === undefined) return { [Symbol.dispose]: () => running.giveBack(uid) };
  throw new UploadRefusal(
    429,
    `Bundle "${name}" is being uploaded already: wait until that upload has ended`,
  );
}

async function store(
  { store, bundles }: UploadHandlerOptions,
  key: ContentKey,
  upload: ReceivedUpload,
): Promise<boolean> {
  const signal = AbortSignal.timeout(timeLimit);
  // The Bundle may have changed while the body arrived.
  const bundle = await uploadBundle({ bundles }, key.name);
  if (bundle.metadata.uid !== key.uid) {
    throw new UploadRefusal(
      404,
      `Bundle.core.rukpak.io "${key.name}" was deleted during the upload`,
    );
  }
  const { digest } = upload;
  const isStored = (await store.digest(key, signal).catch(fail)) === digest;
  if (!acceptsUpload(bundle, { digest, isStored })) throw alreadyUnpacked();
  if (!isStored) {
    // The Bundle may have been unpacked while the upload was written.
    const confirm = async (): Promise<void> => {
      if (!(await bundles.claim(key, { digest, signal }))) throw alreadyUnpacked();
    };
    await store.put(key, { ...upload, confirm }, signal).catch(fail);
  }
  // Also for known content: the process that stored it may have ended before the announcement.
  const announcement = { digest, isNew: !isStored, signal };
  if (!(await bundles.announce(key, announcement))) throw alreadyUnpacked();
  return !isStored;
}

function fail(error: unknown): never {
  throw error instanceof UploadRefusal ? error : notStored(error);
}

function alreadyUnpacked(): UploadRefusal {
  const text = 'bundle has already been unpacked, cannot change content of existing bundle';
  return new UploadRefusal(409, text);
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

const uploadType = 'application/x-compressed-tar';

/** Reads no bytes of the upload: in the cluster they are in many Secrets. */
async function answerHead(
  { store, bundles }: UploadHandlerOptions,
  name: string,
  response: Response,
): Promise<void> {
  const signal = AbortSignal.timeout(timeLimit);
  const uid = (await bundles.find(name, signal))?.metadata.uid;
  const isStored = uid !== undefined && (await store.has({ name, uid }, signal));
  if (!isStored) return sendText(response, 404, '404 page not found');
  response.set('Content-Type', uploadType).end();
}

async function answerGet(
  { store, bundles }: UploadHandlerOptions,
  name: string,
  response: Response,
): Promise<void> {
  const signal = AbortSignal.timeout(timeLimit);
  const uid = (await bundles.find(name, signal))?.metadata.uid;
  const upload = uid === undefined ? undefined : await store.read({ name, uid }, signal);
  if (upload === undefined) return sendText(response, 404, '404 page not found');
  response.set('Content-Type', uploadType);
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
