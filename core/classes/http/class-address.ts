import { X509Certificate } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { classNameSchema } from '../../../api/v1alpha1/bundle.ts';
import { errorMessage } from '../../errors.ts';
import { type ClientCertificate, isThisMachine } from '../../platform/net/index.ts';

export interface ClassAddressOptions {
  readonly className: string;
  /** Base URL of `v1/class` and the other paths. */
  readonly url: string;
  /** Allow `http://` to other machines. */
  readonly plainHttp?: boolean | undefined;
}

/** The server of a class. */
export interface ClassAddress {
  readonly className: string;
  /** Ends in a slash. */
  readonly url: URL;
  /** For messages: `class "acme" at https://acme.example`. */
  readonly name: string;
}

/** @throws Error that names the problem of name or URL, without quoting a possible password */
export function classAddress(options: ClassAddressOptions): ClassAddress {
  const { className } = options;
  const url = URL.parse(options.url);
  const problem = classNameSchema.safeParse(className).success
    ? problemOf(url, options)
    : 'a class name has lower-case letters, digits and "-" only';
  if (problem !== undefined || url === null) {
    throw new Error(`--provisioner-url for class ${JSON.stringify(className)}: ${problem}`);
  }
  url.pathname = url.pathname.replace(/\/*$/, '/');
  return { className, url, name: `class "${className}" at ${url.href.replace(/\/$/, '')}` };
}

function problemOf(url: URL | null, options: ClassAddressOptions): string | undefined {
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'the URL must begin with https:// or http://';
  }
  if (url.username + url.password !== '') {
    return 'the URL must not hold credentials: put them into a folder, and name it in --provisioner-url-credentials';
  }
  if (url.search + url.hash !== '') {
    return 'the URL must not have a "?" or "#": paths are put behind it';
  }
  if (url.protocol === 'http:' && options.plainHttp !== true && !isThisMachine(url)) {
    return `http:// is for servers on this machine, such as a sidecar: use https:// for ${url.host}, or allow it with --provisioner-url-plain-http=${options.className}`;
  }
  return undefined;
}

/** Credentials for a server, and the CAs to verify it. */
export interface Credentials {
  /** Sent as a bearer token. */
  readonly token: string | undefined;
  readonly clientCertificate: ClientCertificate | undefined;
  /** PEM. */
  readonly caCertificates: readonly string[];
}

const noCredentials: Credentials = {
  token: undefined,
  clientCertificate: undefined,
  caCertificates: [],
};

/**
 * Reads a folder with the keys of a mounted Secret: `token`, `tls.crt` with `tls.key`, `ca.crt`
 * (default: no folder).
 * @throws Error that names the unusable file, and quotes nothing of it
 */
export async function readCredentials(folder: string | undefined): Promise<Credentials> {
  if (folder === undefined) return noCredentials;
  const place = await settled(folder);
  const [token, cert, key, ca] = await Promise.all(
    ['token', 'tls.crt', 'tls.key', 'ca.crt'].map((name) => readIfThere(join(place, name))),
  );
  if ([token, cert, key, ca].every((content) => content === undefined)) {
    throw unusable(folder, 'it contains neither token, nor tls.crt with tls.key, nor ca.crt');
  }
  return {
    token: token === undefined ? undefined : tokenOf(token.trim(), folder),
    clientCertificate: clientOf(cert, key, folder),
    caCertificates: ca === undefined ? [] : [authority(ca, folder)],
  };
}

/** A mounted Secret changes with one symlink: files behind its target belong to one version. */
async function settled(folder: string): Promise<string> {
  try {
    return await realpath(join(folder, '..data')).catch(() => realpath(folder));
  } catch (error) {
    throw unusable(folder, errorMessage(error));
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`cannot read --provisioner-url-credentials: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function tokenOf(token: string, folder: string): string {
  if (/^[!-~]+$/.test(token)) return token;
  throw unusable(folder, 'its token must be one line of visible ASCII characters');
}

function clientOf(
  cert: string | undefined,
  key: string | undefined,
  folder: string,
): ClientCertificate | undefined {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw unusable(folder, 'tls.crt and tls.key need each other');
  }
  try {
    createSecureContext({ cert, key });
    return { cert, key };
  } catch {
    throw unusable(folder, 'tls.crt and tls.key are not a certificate and its key');
  }
}

function authority(pem: string, folder: string): string {
  try {
    // TLS itself ignores text that is not a certificate.
    new X509Certificate(pem).toString();
    return pem;
  } catch {
    throw unusable(folder, 'ca.crt is not a PEM certificate');
  }
}

function unusable(folder: string, problem: string): Error {
  return new Error(`cannot use --provisioner-url-credentials "${folder}": ${problem}`);
}
