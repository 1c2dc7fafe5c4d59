import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { record } from '../../api/record.ts';

/**
 * Makes of a cluster's OpenAPI document what `rukpakctl validate` knows of Kubernetes' own kinds:
 *
 *     kubectl get --raw /openapi/v2 | node deploy/openapi/compact.ts > deploy/openapi/kubernetes-1.36.json
 *
 * A definition's fields have their types as texts: `string`, `integer`, `number`, `boolean`, `any`,
 * `#name` of another definition, `[]` before that of a list's items, `{}` before that of a map's values,
 * `!` after that of a field without which the API server refuses the object.
 */

const schemaSchema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    type: z.string().optional(),
    $ref: z.string().optional(),
    items: schemaSchema.optional(),
    properties: record(schemaSchema).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: schemaSchema.optional(),
    'x-kubernetes-group-version-kind': z
      .array(z.object({ group: z.string(), version: z.string(), kind: z.string() }))
      .optional(),
  }),
);

interface Schema {
  readonly type?: string | undefined;
  readonly $ref?: string | undefined;
  readonly items?: Schema | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: Schema | undefined;
  readonly 'x-kubernetes-group-version-kind'?:
    | readonly { readonly group: string; readonly version: string; readonly kind: string }[]
    | undefined;
}

const documentSchema = z.object({
  info: z.object({ version: z.string() }),
  definitions: record(schemaSchema),
});

/** What is written as a text or a number: the type alone says less than the API server takes. */
const manifold: ReadonlySet<string> = new Set(['resource.Quantity', 'intstr.IntOrString']);

/**
 * Required by the document, but the API server takes objects without them: Go reads a field that is
 * missing as false, zero or empty, which is valid there. `test/integration/required-fields.test.ts`
 * found them.
 */
const takenWithout: ReadonlySet<string> = new Set([
  'apps.v1.ControllerRevision.revision',
  'batch.v1.PodFailurePolicy.rules',
  'batch.v1.SuccessPolicy.rules',
  'core.v1.HTTPHeader.value',
  'core.v1.ISCSIPersistentVolumeSource.lun',
  'core.v1.ISCSIVolumeSource.lun',
  'core.v1.LimitRangeSpec.limits',
  'core.v1.PreferredSchedulingTerm.preference',
  'core.v1.SleepAction.seconds',
  'core.v1.Sysctl.value',
  'discovery.v1.ForNode.name',
  'discovery.v1.ForZone.name',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion.served',
  'storage.v1.CSIDriver.spec',
  'storage.v1.CSINodeSpec.drivers',
  'storage.v1.TokenRequest.audience',
]);

/** Bundles hardly have their kinds, and nothing was tried with them. */
const untried = /^(?:authentication|authorization|events|resource)\.|^core\.v1\.Event\./;

/** `apps.v1.Deployment` of `io.k8s.api.apps.v1.Deployment`. */
function shortName(name: string): string {
  return name.replace(/^io\.k8s\.(?:api|apimachinery\.pkg(?:\.apis|\.api|\.util)?)\./, '');
}

function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = shortName(schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1));
    return manifold.has(name) ? 'any' : `#${name}`;
  }
  if (schema.type === 'array') return `[]${typeText(schema.items ?? {})}`;
  if (schema.additionalProperties !== undefined)
    return `{}${typeText(schema.additionalProperties)}`;
  const { type = 'any' } = schema;
  return type === 'object' ? 'any' : type;
}

function isKind({ properties = {} }: Schema): boolean {
  return ['apiVersion', 'kind', 'metadata'].every((field) => field in properties);
}

const document = documentSchema.parse(JSON.parse(await text(process.stdin)));
const own = Object.entries(document.definitions).filter(([name]) => name.startsWith('io.k8s.'));
const kinds = own.flatMap(([name, schema]) =>
  (isKind(schema) ? (schema['x-kubernetes-group-version-kind'] ?? []) : []).map(
    ({ group, version, kind }) => [`${group}/${version}/${kind}`, shortName(name)] as const,
  ),
);
const definitions = own.map(([name, schema]) => {
  const fields = Object.entries(schema.properties ?? {});
  const type = Object.fromEntries(
    fields.map(([field, of]) => {
      const isRequired = schema.required?.includes(field) === true;
      const place = `${shortName(name)}.${field}`;
      const isRefused = isRequired && !takenWithout.has(place) && !untried.test(place);
      return [field, `${typeText(of)}${isRefused ? '!' : ''}`];
    }),
  );
  return [shortName(name), fields.length === 0 ? typeText(schema) : type] as const;
});

/** A line for each, so that an update shows what has changed. */
function lines(entries: readonly (readonly [string, unknown])[]): string {
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
    .join(',\n');
}

process.stdout.write(
  `{"version":${JSON.stringify(document.info.version.replace(/^v/, ''))},\n"kinds":{\n${lines(kinds)}},\n"definitions":{\n${lines(definitions)}}}\n`,
);
