import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { JsonSchema } from '../../api/object-schema/index.ts';
import { record } from '../../api/record.ts';
import type { Clock } from '../../core/platform/clock.ts';
import {
  definitionResource,
  hasCode,
  isEstablished,
  isForbidden,
  isNotFound,
  type KubeClient,
  liveObject,
  type Resource,
} from '../../core/platform/kube/index.ts';
import type { ProcessorTurns } from './check-turns.ts';

// The API server has validated the schema; validating this large tree again would be slow.
const jsonSchemaSchema = z.custom<JsonSchema>(
  (value) => typeof value === 'object' && value !== null,
);

const versionSchema = z.object({
  name: z.string(),
  served: z.boolean(),
  storage: z.boolean().optional(),
  schema: z.object({ openAPIV3Schema: jsonSchemaSchema.optional() }).optional(),
});

const crdSchema = z.object({
  metadata: z.object({
    name: z.string(),
    labels: record(z.string()).optional(),
    annotations: record(z.string()).optional(),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.object({
    group: z.string(),
    scope: z.string(),
    names: z.object({ plural: z.string(), kind: z.string(), listKind: z.string().optional() }),
    versions: z.array(versionSchema),
    conversion: z.object({ strategy: z.string() }).optional(),
  }),
  status: z
    .object({
      storedVersions: z.array(z.string()).nullish(),
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).nullish(),
    })
    .optional(),
});

/** CustomResourceDefinition of apiextensions.k8s.io/v1: the fields that describe its objects. */
export interface CustomResourceDefinition extends z.infer<typeof crdSchema> {}

export interface CrdVersion extends z.infer<typeof versionSchema> {}

/** @throws Error in one sentence that names the invalid field. */
export function parseCrd(object: unknown): CustomResourceDefinition {
  const parsed = crdSchema.safeParse(object);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? 'object' : issue.path.join('.');
  throw new Error(`${field}: ${issue?.message}`);
}

/** The live CRD of that name; undefined when there is none. */
export async function liveCrd(
  client: Pick<KubeClient, 'get'>,
  name: string,
  signal: AbortSignal,
): Promise<CustomResourceDefinition | undefined> {
  const target = { resource: definitionResource, key: { name } };
  const crd = await liveObject(client, target, signal);
  return crd && parseCrd(crd);
}

/** The resource of a version's custom resources. */
export function resourceOf({ spec }: CustomResourceDefinition, version: string): Resource {
  const { plural, kind } = spec.names;
  return { group: spec.group, version, kind, plural, namespaced: spec.scope === 'Namespaced' };
}

export function schemaOf({ schema }: CrdVersion): JsonSchema {
  return schema?.openAPIV3Schema ?? {};
}

export function haveSameSchema(a: CrdVersion, b: CrdVersion): boolean {
  return isDeepStrictEqual(a.schema, b.schema);
}

export function isAnnotated(
  { metadata }: Pick<CustomResourceDefinition | KubernetesObject, 'metadata'>,
  annotation: string,
  value: string,
): boolean {
  return metadata.annotations?.[annotation] === value;
}

/** One page of a list. */
export interface ObjectPage {
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: readonly KubernetesObject[];
}

/** Reads lists page by page. A refused request throws an error with the HTTP status as `code`. */
export interface ObjectLister {
  list(
    resource: Resource,
    options: { readonly limit: number; readonly continue?: string; readonly signal: AbortSignal },
  ): Promise<ObjectPage>;
}

/**
 * Custom resources of a CRD, in any served version; undefined when the API server lists none in any,
 * so that nobody knows whether there are some.
 */
export async function firstPage(
  crd: CustomResourceDefinition,
  list: (resource: Resource) => Promise<ObjectPage>,
): Promise<ObjectPage | undefined> {
  const served = servedVersion(crd);
  // Before it establishes a CRD, the API server accepts no custom resources.
  const unseen: ObjectPage | undefined = isEstablished(crd)
    ? undefined
    : { metadata: {}, items: [] };
  if (served === undefined) return unseen;
  try {
    return await list(resourceOf(crd, served.name));
  } catch (error) {
    if (isNotFound(error)) return unseen;
    throw error;
  }
}

/** Preferably the version of storage: that needs no conversion webhook, which may be gone. */
function servedVersion({ spec }: CustomResourceDefinition): CrdVersion | undefined {
  const served = spec.versions.filter((version) => version.served);
  return served.find(({ storage }) => storage === true) ?? served[0];
}

/** Maximum number of objects per page, as for the API server's own clients. */
const maxLimit = 500;
/** Objects in the first page, before their size is known; etcd stores objects of up to 1.5 MiB. */
const firstLimit = 50;
/** Target bytes of a page, estimated from the size of earlier objects. */
const pageBytes = 8 * 1024 * 1024;

interface VisitedList {
  readonly lister: ObjectLister;
  readonly resource: Resource;
  readonly processor: ProcessorTurns;
}

/**
 * Calls `visit` with every object of a kind, with one page in memory at a time, until it returns
 * true. Restarts an expired list, so that an object may come twice. Visits nothing for a kind that
 * is not served.
 */
export async function visitObjects(
  { lister, resource, processor }: VisitedList,
  visit: (object: KubernetesObject) => boolean,
  signal: AbortSignal,
): Promise<void> {
  let limit = firstLimit;
  let token: string | undefined;
  for (;;) {
    const page = await readPage({ lister, resource, limit, token }, signal);
    token = page?.metadata.continue;
    if (await processor.visit(page?.items ?? [], visit, signal)) return;
    // An expired list has no page, and starts again.
    if (page !== undefined && !token) return;
    limit = nextLimit(page, limit);
  }
}

interface PageRequest {
  readonly lister: ObjectLister;
  readonly resource: Resource;
  readonly limit: number;
  readonly token: string | undefined;
}

/** Resolves to undefined for an expired list. */
async function readPage(
  { lister, resource, limit, token }: PageRequest,
  signal: AbortSignal,
): Promise<ObjectPage | undefined> {
  try {
    return await lister.list(resource, { limit, ...(token && { continue: token }), signal });
  } catch (error) {
    if (isNotFound(error)) return { metadata: {}, items: [] };
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

/** Core needs a moment to grant the permission for a new CRD. */
const tries = 10;
const pauseMs = 500;

/**
 * A lister that retries a forbidden list for some seconds, and then names the remedy. When core
 * runs, waiting is enough.
 */
export function patientLister(lister: ObjectLister, clock: Clock): ObjectLister {
  return {
    async list(resource, options) {
      for (let tried = 1; ; tried += 1) {
        try {
          return await lister.list(resource, options);
        } catch (error) {
          if (!isForbidden(error)) throw error;
          if (tried === tries) throw mayNotList(`${resource.plural}.${resource.group}`, error);
        }
        await clock.sleep(pauseMs, options.signal);
      }
    },
  };
}

function mayNotList(crd: string, cause: unknown): Error {
  return new Error(
    `crdvalidator lacks permission to list ${crd}: run core with --crd-reader-role, or grant the verb list to the ServiceAccount of crdvalidator by a ClusterRole`,
    { cause },
  );
}
