import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { record } from '../../api/record.ts';
import { hasCode, type ObjectClient, type ResourceRef } from '../cluster.ts';
import type { JsonSchema } from './schema/json-schema.ts';

// The API server has checked the schema; it is a large tree, and checking it again would be slow.
const jsonSchemaSchema = z.custom<JsonSchema>(
  (value) => typeof value === 'object' && value !== null,
);

const versionSchema = z.object({
  name: z.string(),
  served: z.boolean(),
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
  status: z.object({ storedVersions: z.array(z.string()).nullish() }).optional(),
});

/** CustomResourceDefinition of apiextensions.k8s.io/v1: the parts that tell what objects it has. */
export interface CustomResourceDefinition extends z.infer<typeof crdSchema> {}

export interface CrdVersion extends z.infer<typeof versionSchema> {}

export const crdResource: ResourceRef = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

/** Throws one sentence that names the field where the object is none. */
export function parseCrd(object: unknown): CustomResourceDefinition {
  const parsed = crdSchema.safeParse(object);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? 'object' : issue.path.join('.');
  throw new Error(`${field}: ${issue?.message}`);
}

/** The CRD of that name as it is now; undefined where there is none. */
export async function liveCrd(
  client: Pick<ObjectClient, 'get'>,
  name: string,
  signal: AbortSignal,
): Promise<CustomResourceDefinition | undefined> {
  try {
    return parseCrd(await client.get(crdResource, { name }, signal));
  } catch (error) {
    if (hasCode(error, 404)) return undefined;
    throw error;
  }
}

/** Where the custom resources of a version are. */
export function resourceOf({ spec }: CustomResourceDefinition, version: string): ResourceRef {
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
  { metadata }: CustomResourceDefinition,
  annotation: string,
  value: string,
): boolean {
  return metadata.annotations?.[annotation] === value;
}
