import { readFile } from 'node:fs/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { type ByteStream, storedLimits, unpackBundle } from '../content/index.ts';
import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import type { ContentStore, PinnedKey } from '../contracts/store.ts';
import { TerminalError, WaitingError } from '../errors.ts';
import { withDeadline } from '../platform/clock.ts';
import { isStampOf, stampLength, stampOf } from './archive.ts';

export interface FallbackLoaderOptions {
  readonly store: Pick<ContentStore, 'load'>;
  /** URLs of content servers, such as `https://core.rukpak-system.svc`; core asks no others. */
  readonly contentServers: readonly string[];
  /** Returns this process's token; called for each request. */
  readonly token: () => Promise<string>;
  /** PEM file with the CAs of the servers' certificates (default: the system's). */
  readonly caFile?: string;
  readonly limits: ContentLimits;
}

export interface StoredBundle extends PinnedKey {
  /** status.contentURL */
  readonly contentURL: string | undefined;
}

export interface ContentLoader {
  /** A Bundle's content, from this process's own store or from the contentURL of its status. */
  load(bundle: StoredBundle, signal: AbortSignal): Promise<BundleFiles>;
}

/** Milliseconds for an archive. */
const timeout = 60_000;

/**
 * Reads content that another process stored. Asks only the configured content servers, only for the
 * Bundle's own archive, and follows no redirects: anyone who may write a Bundle's status can set the
 * URL, and must neither get the token nor choose the content, such as an upload.
 */
export function createFallbackLoader(options: FallbackLoaderOptions): ContentLoader {
  const servers = options.contentServers.map((server) => new URL(server));
  return {
    async load(bundle, signal) {
      const stored = await options.store.load(bundle);
      if (stored !== undefined) return stored;
      const url = trustedURL(bundle, servers);
      return await fetchContent(url, { ...options, bundle, signal });
    },
  };
}

/** The URL of the Bundle's own archive on the configured server that the status names. */
function trustedURL({ name, contentURL }: StoredBundle, servers: readonly URL[]): URL {
  if (contentURL === undefined || contentURL === '') {
    throw new Error(`bundle "${name}" has no content: status.contentURL is not set`);
  }
  const named = URL.parse(contentURL);
  const trusted = servers.filter(({ origin }) => origin === named?.origin);
  const urls = trusted.map((server) => archiveURL(server, name));
  // Only origin and path: credentials would replace the token.
  const url = urls.find(({ pathname }) => pathname === named?.pathname);
  if (url !== undefined) return url;
  const problem =
    urls.length === 0
      ? `is on none of the configured content servers (${servers.map(({ origin }) => origin).join(', ')})`
      : `is not the URL of its archive: expected ${urls.join(' or ')}`;
  throw new TerminalError(
    `status.contentURL ${JSON.stringify(contentURL.slice(0, 200))} of bundle "${name}" ${problem}`,
  );
}

function archiveURL({ origin, pathname }: URL, name: string): URL {
  const prefix = pathname.replace(/\/+$/, '');
  return new URL(`${origin}${prefix}/bundles/${encodeURIComponent(name)}.tgz`);
}

async function fetchContent(
  url: URL,
  options: FallbackLoaderOptions & { bundle: StoredBundle; signal: AbortSignal },
): Promise<BundleFiles> {
  const deadline = { ms: timeout, signal: options.signal, timeoutError: tooSlow };
  const { caFile } = options;
  const agent = new Agent(
    caFile === undefined ? {} : { connect: { ca: await readFile(caFile, 'utf8') } },
  );
  try {
    return await withDeadline(deadline, async (signal) => {
      return await download(url, { ...options, agent, signal });
    });
  } catch (error) {
    // Another answer may be whole, and no proxy's page.
    if (error instanceof TerminalError) throw new Error(error.message, { cause: error });
    throw error;
  } finally {
    await agent.destroy();
  }
}

function tooSlow(): Error {
  return new WaitingError(`the content server has not sent all of it within ${timeout / 1000} s`);
}

async function download(
  url: URL,
  options: FallbackLoaderOptions & { bundle: StoredBundle; agent: Agent; signal: AbortSignal },
): Promise<BundleFiles> {
  const { agent, signal, bundle } = options;
  const limits = storedLimits(options.limits);
  const response = await request(url, {
    dispatcher: agent,
    signal,
    headers: { authorization: `Bearer ${await options.token()}` },
  });
  if (response.statusCode !== 200) throw unexpectedStatus(response);
  return await unpackBundle(ofBundle(response.body, bundle), { limits, signal });
}

function unexpectedStatus({ statusCode, statusText }: Dispatcher.ResponseData): Error {
  const message = `unexpected response status "${statusCode} ${statusText}"`;
  // The server is restoring lost content, has just started, or is crowded.
  const mayPass = statusCode === 503 || statusCode === 429;
  return mayPass ? new WaitingError(message) : new Error(message);
}

/**
 * The archive, unless its stamp has another Bundle's UID, or another pin; archives of other servers
 * have no stamp.
 */
async function* ofBundle(archive: ByteStream, bundle: StoredBundle): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of archive) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < stampLength) continue;
    yield checked(head, bundle);
    head = undefined;
  }
  if (head !== undefined) yield checked(head, bundle);
}

function checked(head: Buffer, bundle: StoredBundle): Buffer {
  const stamp = stampOf(head);
  if (stamp === undefined || isStampOf(stamp, bundle)) return head;
  const found = stamp.uid === bundle.uid ? 'earlier content of' : 'the content of an earlier';
  throw new Error(`the content server still has ${found} bundle "${bundle.name}"`);
}
