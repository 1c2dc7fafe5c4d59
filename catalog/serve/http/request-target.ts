import { posix } from 'node:path';
import type { BlobQuery } from '../../index/index.ts';

/** A catalog as a path names it. */
export interface RequestedCatalog {
  /** Decoded. */
  readonly catalog: string;
  /** `all.json` is the path of catalogd's Catalog, `api/v1` that of a ClusterCatalog. */
  readonly endpoint: 'all.json' | 'api/v1';
}

/** The requested catalog and blobs. */
export interface RequestTarget extends RequestedCatalog {
  readonly query: BlobQuery;
}

/** An answer without content, with catalogd's status and text. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
  /** Path of a redirect. */
  readonly location?: string;
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
 * empty parameters and all but the first of repeated ones; refuses unknown parameters. `all.json`
 * takes the same parameters: a ClusterCatalog of the same name hides a Catalog's `api/v1/metas`. It
 * is the whole catalog with unknown ones, as for catalogd, which reads none. Redirects `/catalogs`,
 * and paths with empty parts, `.` or `..`, as Go's ServeMux does.
 */
export function requestTarget(method: string, url: string): RequestTarget | Refusal {
  if (method !== 'GET' && method !== 'HEAD') return notAllowed;
  const { path, search } = partsOf(url);
  const location = redirectedPath(path);
  if (location !== undefined) return redirectTo(location, search);
  const [, written = '', what] = pathPattern.exec(path) ?? [];
  if (what === undefined) return notFound;
  const catalog = decoded(written);
  const query = queryFor(what, new URLSearchParams(search));
  if (catalog === undefined || query === undefined) return badRequest;
  return { catalog, endpoint: what === 'all.json' ? what : 'api/v1', query };
}

/** Undefined for a path that stays as it is. Percent-encoded parts are names. */
function redirectedPath(path: string): string | undefined {
  if (!path.startsWith('/')) return undefined;
  const clean = posix.normalize(path);
  if (clean === '/catalogs') return '/catalogs/';
  return clean === path ? undefined : clean;
}

/** Browsers read a backslash as a slash: two at the beginning would be another host. */
const unfitForHeader = /[^\x21-\x7e]|["<>\\]/gu;

function redirectTo(path: string, search: string): Refusal {
  const target = `${path}${search === '' ? '' : `?${search}`}`;
  const location = target.replaceAll(unfitForHeader, (each) =>
    encodeURIComponent(each.toWellFormed()),
  );
  const href = location.replaceAll('&', '&amp;').replaceAll("'", '&#39;');
  return { status: 301, location, text: `<a href="${href}">Moved Permanently</a>.\n` };
}

function partsOf(url: string): { readonly path: string; readonly search: string } {
  const mark = url.indexOf('?');
  return mark === -1
    ? { path: url, search: '' }
    : { path: url.slice(0, mark), search: url.slice(mark + 1) };
}

/** Undefined for a bad request. */
function queryFor(what: string, parameters: URLSearchParams): BlobQuery | undefined {
  if (what === 'api/v1/all') return {};
  return queryOf(parameters) ?? (what === 'all.json' ? {} : undefined);
}

/** Undefined for an unknown parameter. */
function queryOf(parameters: URLSearchParams): BlobQuery | undefined {
  if ([...parameters.keys()].some((key) => !known.has(key))) return undefined;
  const [schema, owner, name] = fields.map((field) => parameters.get(field) || undefined);
  return { schema, package: owner, name };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
