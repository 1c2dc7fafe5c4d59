import { X509Certificate } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { unpackFetched } from '../content/index.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import type {
  SecretContent,
  Source,
  SourceContext,
  SourceResult,
  SourceType,
} from '../contracts/source.ts';
import { TerminalError } from '../errors.ts';
import { type AddressPolicy, createDispatcher, type ProxyConfig } from '../platform/net/index.ts';
import { download, MeasuredBody } from './http-download.ts';

export interface HttpSourceOptions {
  readonly proxy?: ProxyConfig | undefined;
  /** Addresses that connections may use, redirects included (default: all). */
  readonly addresses?: AddressPolicy | undefined;
  /** Milliseconds without data from a server (default: 30 s). */
  readonly idleTimeout?: number;
}

const connectTimeout = 10_000;

/** Sources of type http, pinned to the digest of the archive. */
export const httpType: SourceType = {
  type: 'http',
  pin: {
    of: ({ http }) => http?.checksum,
    at: (source, checksum) =>
      source.http !== undefined && /^sha256:[0-9a-f]{64}$/.test(checksum)
        ? { ...source, http: { ...source.http, checksum } }
        : undefined,
    place: ({ http }) => http?.url,
  },
  host: ({ http }) => (http && URL.parse(http.url)) ?? undefined,
  secret: ({ http }) => http?.auth?.secret?.name,
  shareable: true,
};

/** A tar.gz from an HTTP(S) server. */
export function createHttpSource(options: HttpSourceOptions = {}): Source {
  return { ...httpType, fetch: (source, context) => fetchHttp(source, context, options) };
}

async function fetchHttp(
  { type, http }: BundleSource,
  context: SourceContext,
  { proxy, addresses, idleTimeout = 30_000 }: HttpSourceOptions,
): Promise<SourceResult> {
  if (http === undefined) throw new TerminalError('bundle source http configuration is unset');
  const url = sourceURL(http.url);
  const { authorization, caCertificates } = await httpAccess(http.auth?.secret?.name, context);
  const dispatcher = createDispatcher({
    proxy,
    addresses,
    caCertificates,
    insecureSkipVerify: http.auth?.insecureSkipVerify ?? false,
    connectTimeout,
    idleTimeout,
  });
  try {
    const connection = { authorization, dispatcher, signal: context.signal };
    const wanted = { url, checksum: http.checksum };
    const { files, checksum } = await fetchFiles(wanted, connection, context);
    checkDigest(wanted, checksum);
    return { files, resolvedSource: { type, http: { ...http, checksum } } };
  } finally {
    await dispatcher.destroy();
  }
}

interface WantedArchive {
  readonly url: URL;
  /** Digest that the archive must have. */
  readonly checksum: string | undefined;
}

async function fetchFiles(
  { url, checksum }: WantedArchive,
  connection: { authorization: string | undefined; dispatcher: Dispatcher; signal: AbortSignal },
  { limits, signal, memory }: SourceContext,
): Promise<{ readonly files: BundleFiles; readonly checksum: string }> {
  const body = new MeasuredBody(await download(url, connection), { url, limits });
  const prefixes = { gzip: '', tar: 'error creating FS: ' };
  try {
    const files = await unpackFetched(body, { limits, signal, memory, prefixes });
    return { files, checksum: await body.checksum() };
  } catch (error) {
    if (!(error instanceof TerminalError) || (await isOf(body, checksum))) throw error;
    throw new Error(error.message, { cause: error });
  }
}

/**
 * Whether a body is certainly the wanted archive. Otherwise the server may have that later: now it
 * answered with a page of its own, for instance.
 */
async function isOf(body: MeasuredBody, checksum: string | undefined): Promise<boolean> {
  if (checksum === undefined) return false;
  return (await body.checksum().catch(() => undefined)) === checksum;
}

function checkDigest({ url, checksum: wanted }: WantedArchive, checksum: string): void {
  if (wanted === undefined || wanted === checksum) return;
  throw new Error(
    `GET ${url.href}: the content has the digest ${checksum}, but ${wanted} is expected: put the expected content back to this URL, or make another Bundle for the new one`,
  );
}

/** Parses `http.url`; messages do not quote it, because it may contain a password. */
function sourceURL(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TerminalError('bundle source http.url must be a URL with https:// or http://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TerminalError(
      'bundle source http.url must not hold credentials: put them as username and password into a Secret, and name it in http.auth.secret',
    );
  }
  return url;
}

interface HttpAccess {
  /** The header's value; undefined without credentials. */
  readonly authorization: string | undefined;
  /** PEM. */
  readonly caCertificates: readonly string[];
}

/**
 * Login and CA from the Secret of an http source: basic auth from `username` and `password`, a CA
 * from `ca.crt`. Its errors are retried, because the Secret may be created or repaired.
 */
async function httpAccess(
  secretName: string | undefined,
  { secrets, signal }: Pick<SourceContext, 'secrets' | 'signal'>,
): Promise<HttpAccess> {
  if (secretName === undefined || secretName === '') {
    return { authorization: undefined, caCertificates: [] };
  }
  const secret = await secrets.read(secretName, signal);
  if (secret === undefined) throw new Error(`Secret "${secretName}" not found`);
  return { authorization: basicAuth(secret), caCertificates: authority(secret, secretName) };
}

/** As in RukPak, one missing key is an empty string; a Secret with only `ca.crt` has no login. */
function basicAuth({ data }: SecretContent): string | undefined {
  if (!data.has('username') && !data.has('password')) return undefined;
  const text = (key: string): string => Buffer.from(data.get(key) ?? []).toString('utf8');
  const pair = Buffer.from(`${text('username')}:${text('password')}`);
  return `Basic ${pair.toString('base64')}`;
}

function authority({ data }: SecretContent, name: string): readonly string[] {
  const ca = data.get('ca.crt');
  if (ca === undefined) return [];
  const pem = Buffer.from(ca).toString('utf8');
  if (!isCertificate(pem)) {
    throw new Error(`Secret "${name}": its key ca.crt holds no PEM certificate`);
  }
  return [pem];
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
