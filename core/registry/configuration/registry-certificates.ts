import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { errorMessage } from '../../errors.ts';
import type { ClientCertificate } from '../../platform/net/index.ts';
import { registryHost } from '../reference.ts';

/** CAs and client certificate of one registry, in addition to the global ones. */
export interface HostCertificates {
  /** PEM. */
  readonly caCertificates: readonly string[];
  readonly clientCertificate?: ClientCertificate;
}

/** By a registry's `host[:port]` as URLs write it. */
export type RegistryCertificates = ReadonlyMap<string, HostCertificates>;

/**
 * Reads a folder in the layout of /etc/containers/certs.d and /etc/docker/certs.d: one folder per
 * `host[:port]`, with CAs (`*.crt`) and at most one client certificate (`*.cert` and the `*.key` of
 * the same name).
 * @throws Error that names the unusable file
 */
export function readRegistryCertificates(directory: string): RegistryCertificates {
  const hosts = namesIn(directory);
  return new Map(hosts.map((host) => [urlHost(host), readHost(join(directory, host))]));
}

function readHost(directory: string): HostCertificates {
  const names = namesIn(directory);
  const [certificate, another] = names.filter((name) => name.endsWith('.cert'));
  if (another !== undefined) {
    throw new Error(`${directory} has more than one client certificate (*.cert)`);
  }
  const caCertificates = names
    .filter((name) => name.endsWith('.crt'))
    .map((name) => authority(join(directory, name)));
  if (certificate === undefined) return { caCertificates };
  return { caCertificates, clientCertificate: clientOf(join(directory, certificate)) };
}

function clientOf(certFile: string): ClientCertificate {
  const keyFile = certFile.replace(/\.cert$/, '.key');
  const pair = { cert: read(certFile), key: read(keyFile) };
  try {
    createSecureContext(pair);
    return pair;
  } catch (error) {
    throw new Error(`${certFile} and ${keyFile} are no client certificate and its key`, {
      cause: error,
    });
  }
}

function authority(file: string): string {
  const pem = read(file);
  try {
    // TLS itself silently ignores invalid certificates.
    new X509Certificate(pem).toString();
    return pem;
  } catch (error) {
    throw new Error(`${file} is not a PEM certificate`, { cause: error });
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot read --registry-certs-dir: ${errorMessage(error)}`, { cause: error });
  }
}

/** Skips names with a leading dot: Kubernetes uses them internally in mounted volumes. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => !name.startsWith('.'))
      .sort();
  } catch (error) {
    throw new Error(`cannot read --registry-certs-dir: ${errorMessage(error)}`, { cause: error });
  }
}

function urlHost(name: string): string {
  const host = registryHost(name.toLowerCase());
  return URL.parse(`https://${host}`)?.host ?? host;
}
