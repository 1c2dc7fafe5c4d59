import type { BlobQuery } from '../../index/index.ts';

/** The requested catalog and blobs. */
export interface RequestTarget {
  /** Name in the path, decoded. */
  readonly catalog: string;
  readonly query: BlobQuery;
}

/** An error answer, with catalogd's status and text. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
}

const fields = ['schema', 'package', 'name'] as const;
const known: ReadonlySet<string> = new Set(fields);
const pathPattern = /^\/catalogs\/([^/]+)\/(all\.json|api\/v1\/all|api\/v1\/metas)$/;

const notAllowed: Refusal = { status: 405, text: 'Method Not Allowed' };
const notFound: Refusal = { status: 404, text: '404 page not found' };
const badRequest: Refusal = { status: 400, text: '400 Bad Request' };

/**
 * Reads method and URL of a request: `/catalogs/NAME/all.json` and `/catalogs/NAME/api/v1/all`, the
 * whole catalog; `/catalogs/NAME/api/v1/metas?schema=&package=&name=`, the matching blobs. Ignores
 * empty parameters and all but the first of repeated ones; refuses unknown parameters.
 */
export function requestTarget(method: string, url: string): RequestTarget | Refusal {
  if (method !== 'GET' && method !== 'HEAD') return notAllowed;
  const mark = url.indexOf('?');
  const [path, search] = mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
  const [, written = '', what] = pathPattern.exec(path) ?? [];
  if (what === undefined) return notFound;
  const catalog = decoded(written);
  if (catalog === undefined) return badRequest;
  if (what !== 'api/v1/metas') return { catalog, query: {} };
  const parameters = new URLSearchParams(search);
  if ([...parameters.keys()].some((key) => !known.has(key))) return badRequest;
  const [schema, owner, name] = fields.map((field) => parameters.get(field) || undefined);
  return { catalog, query: { schema, package: owner, name } };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
