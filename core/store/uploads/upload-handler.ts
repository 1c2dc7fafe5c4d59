import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { ContentKey } from '../../contracts/store.ts';
import type { ReceivedUpload, UploadStore } from '../../contracts/upload-store.ts';
import { bundleNameOf } from '../archive-name.ts';
import { sendText } from '../text-response.ts';
import { notStored, type ReceiveOptions, receiveUpload } from './receive-upload.ts';
import { tooLarge, UploadRefusal } from './upload-refusal.ts';

/** The Bundles as the API server has them now. */
export interface UploadBundles {
  /** Undefined where there is none of that name. */
  find(name: string, signal: AbortSignal): Promise<Bundle | undefined>;
  /** Says in the Bundle's status that its content is there, and whether these bytes are new. */
  announce(
    key: ContentKey,
    announcement: { readonly newDigest: string | undefined; readonly signal: AbortSignal },
  ): Promise<void>;
}

export interface UploadHandlerOptions extends ReceiveOptions {
  readonly store: UploadStore;
  readonly bundles: UploadBundles;
}

/** All that comes before and after the body, where each request to the API server has its own limit. */
const timeLimit = 300_000;
/** How long a client that was refused may go on sending, so that it gets to read why. */
const lingering = 2_000;

/** PUT and GET of `/uploads/<bundle>.tgz`, for requests that were authorized. */
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

/** Whether anything was stored that was not there before. */
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
  // Much may have happened to the Bundle while the body came in.
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
  // Also where it is known: whoever stored it may have ended before saying so.
  const newDigest = isKnown ? undefined : upload.digest;
  await bundles.announce(key, { newDigest, signal });
  return !isKnown;
}

function fail(error: unknown): never {
  throw notStored(error);
}

/** The Bundle, where one of that name awaits uploads. */
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

/** For HEAD too: Node leaves the body out. */
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
  // A client that leaves early is its own business; one that stays must not take a part for all.
  await pipeline(upload, response).catch(() => response.destroy());
}

/** A body that nobody wants is passed over for a moment: a closed connection would hide the answer. */
function endAfterAnswer(request: Request, response: Response): void {
  response.once('finish', () => {
    if (request.complete) return;
    const timer = setTimeout(() => request.destroy(), lingering);
    request.once('close', () => clearTimeout(timer));
  });
}
