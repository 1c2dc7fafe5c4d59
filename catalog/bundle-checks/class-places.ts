import type { BundleProblem, RegistryBundle } from '../../provisioners/registry/index.ts';
import { type BundleContent, placeOf } from './bundle-content.ts';
import type { FieldPath, FieldPlace } from './source-lines.ts';

/** Place of the field in an error such as `(spec.installModes is a string, …)`. */
export function csvPlace(csv: NonNullable<BundleContent['csv']>, message: string) {
  const named = /\(([^\s()]+) is /.exec(message)?.[1] ?? '';
  const path = named.split(/[.[\]]+/).filter(Boolean);
  return placeOf(csv, ...path.map((step) => (/^[0-9]+$/.test(step) ? Number(step) : step)));
}

/** Place of what a validator of the class refuses. */
export function placeFor(
  { objects, csv }: BundleContent,
  bundle: RegistryBundle,
  { message, item }: BundleProblem,
): FieldPlace | undefined {
  const located = objects.find(({ object }) => object === item);
  if (located !== undefined) return placeOf(located, objectField(message));
  return csv && placeOf(csv, ...(pathOf(bundle, item) ?? pathByText(message)));
}

/** Path of a webhook or APIService in the CSV. */
function pathOf({ csv }: RegistryBundle, item: object | undefined): FieldPath | undefined {
  const isItem = (each: object): boolean => each === item;
  const webhook = csv.webhookDefinitions.findIndex(isItem);
  if (webhook >= 0) return ['spec', 'webhookdefinitions', webhook];
  const api = csv.ownedApiServices.findIndex(isItem);
  return api < 0 ? undefined : ['spec', 'apiservicedefinitions', 'owned', api];
}

function objectField(text: string): string {
  if (text.includes('preserveUnknownFields')) return 'spec';
  return text.includes('v1beta1') ? 'apiVersion' : 'kind';
}

/** Fields of the CSV by patterns in the errors about them. */
const fields: readonly (readonly [text: RegExp, path: FieldPath])[] = [
  [/install mode/i, ['spec', 'installModes']],
  [/serves containerPort/, ['spec', 'webhookdefinitions']],
  [/would both serve through Service/, ['spec', 'install', 'spec', 'deployments']],
];

function pathByText(text: string): FieldPath {
  return fields.find(([pattern]) => pattern.test(text))?.[1] ?? [];
}
