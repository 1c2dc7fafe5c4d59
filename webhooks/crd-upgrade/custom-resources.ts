import { setImmediate as othersTurn } from 'node:timers/promises';
import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { hasCode, type ResourceRef } from '../cluster.ts';
import { type CustomResourceDefinition, resourceOf } from './custom-resource-definition.ts';

/** One page of a list. */
export interface ObjectPage {
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: readonly KubernetesObject[];
}

/** Reads lists page by page. A refused request throws an error with the HTTP status as `code`. */
export interface ObjectLister {
  list(
    resource: ResourceRef,
    options: { readonly limit: number; readonly continue?: string; readonly signal: AbortSignal },
  ): Promise<ObjectPage>;
}

/** Custom resources of a CRD; they are there in every version that is served. */
export async function firstPage(
  crd: CustomResourceDefinition,
  list: (resource: ResourceRef) => Promise<ObjectPage>,
): Promise<ObjectPage> {
  const none: ObjectPage = { metadata: {}, items: [] };
  const served = crd.spec.versions.find((version) => version.served);
  if (served === undefined) return none;
  try {
    return await list(resourceOf(crd, served.name));
  } catch (error) {
    if (hasCode(error, 404)) return none;
    throw error;
  }
}

/** Objects of a page: at most as many as the API server's own clients ask for. */
const maxLimit = 500;
/** Before anything is known of their size; etcd holds objects of 1.5 MiB. */
const firstLimit = 50;
/** What a page is to have at most, by the size of the objects before it. */
const pageBytes = 8 * 1024 * 1024;

/**
 * Calls `visit` with every object of a kind, a page in memory at a time, until it returns true;
 * other work gets its turn between objects. A list that changed too long ago to be continued is
 * read again from its start, so that an object can come twice. A kind that is not served has none.
 */
export async function visitObjects(
  { lister, resource }: { readonly lister: ObjectLister; readonly resource: ResourceRef },
  visit: (object: KubernetesObject) => boolean,
  signal: AbortSignal,
): Promise<void> {
  let limit = firstLimit;
  let token: string | undefined;
  for (;;) {
    const page = await readPage({ lister, resource, limit, token }, signal);
    token = page?.metadata.continue;
    for (const object of page?.items ?? []) {
      await othersTurn(undefined, { signal });
      if (visit(object)) return;
    }
    // An expired list has no page, and begins anew.
    if (page !== undefined && !token) return;
    limit = nextLimit(page, limit);
  }
}

interface PageRequest {
  readonly lister: ObjectLister;
  readonly resource: ResourceRef;
  readonly limit: number;
  readonly token: string | undefined;
}

/** Resolves to undefined where the list has expired. */
async function readPage(
  { lister, resource, limit, token }: PageRequest,
  signal: AbortSignal,
): Promise<ObjectPage | undefined> {
  try {
    return await lister.list(resource, { limit, ...(token && { continue: token }), signal });
  } catch (error) {
    if (hasCode(error, 404)) return { metadata: {}, items: [] };
    if (token !== undefined && hasCode(error, 410)) return undefined;
    throw error;
  }
}

function nextLimit(page: ObjectPage | undefined, limit: number): number {
  if (page === undefined || page.items.length === 0) return limit;
  const sample = page.items.slice(0, 10);
  const bytes = Buffer.byteLength(stringifyJson(sample)) / sample.length;
  return Math.max(1, Math.min(maxLimit, Math.floor(pageBytes / bytes)));
}
