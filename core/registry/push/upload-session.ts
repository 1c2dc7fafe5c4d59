import type { TransportResponse } from '../http/response.ts';
import type { Descriptor } from '../manifest.ts';
import type { RegistryClient } from '../registry-client.ts';
import { UnavailableError } from '../registry-errors.ts';

/** Where a registry takes the next bytes of an upload. */
export interface Session {
  readonly location: URL;
  /** Minimum bytes of each chunk except the last; 0 for any number. */
  readonly minChunk: number;
}

/** Where an upload goes on after an answer (default: where it was before). */
export function sessionOf(
  { headers, url: asked }: TransportResponse,
  { domain }: Pick<RegistryClient, 'domain'>,
  before?: Session,
): Session {
  const { location } = headers;
  const url = typeof location === 'string' ? URL.parse(location, asked.href) : null;
  const next = url ?? before?.location;
  if (next === undefined) {
    throw new UnavailableError(`registry ${domain} says nothing about where to upload a blob to`);
  }
  const stated = Number(headers['oci-chunk-min-length'] ?? before?.minChunk ?? 0);
  return { location: next, minChunk: Number.isSafeInteger(stated) ? stated : 0 };
}

/** The address that ends an upload, and has the registry check the blob. */
export function endOf({ location }: Session, { digest }: Pick<Descriptor, 'digest'>): URL {
  const url = new URL(location);
  url.searchParams.set('digest', digest);
  return url;
}
