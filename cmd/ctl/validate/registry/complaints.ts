import type {
  BundleProblem,
  Installation,
  RegistryBundle,
} from '../../../../provisioners/registry/index.ts';
import { servedCrdVersion, validators } from '../../../../provisioners/registry/index.ts';
import { error, type Finding } from '../finding.ts';
import type { FieldPath, FieldPlace } from '../source-lines.ts';
import { type BundleContent, placeOf } from './bundle-content.ts';

/** More of one kind help nobody. */
const maxComplaints = 50;

/** What the class's validators say of a bundle, each where it is. */
export function complaintsOf(
  content: BundleContent,
  bundle: RegistryBundle,
  installation: Installation,
): readonly Finding[] {
  return validators.flatMap((validate) => {
    // CRDs of a version that is gone are one complaint of the class, and each has a line of its own.
    const apart = validate === servedCrdVersion ? bundle.crds.map((crd) => [crd]) : [bundle.crds];
    const problems = apart.flatMap((crds) => [...validate({ ...bundle, crds }, installation)]);
    return problems.slice(0, maxComplaints).map((problem) => {
      const { message: text } = problem;
      const [message = text, ...fix] = text.split(/; |: (?=write |the operator supports none)/);
      const place = placeFor(content, bundle, problem);
      return error({ ...(place && { place }), message, fix: fix.join('; ') || wayOut(text) });
    });
  });
}

function placeFor(
  { objects, csv }: BundleContent,
  bundle: RegistryBundle,
  { message, item }: BundleProblem,
): FieldPlace | undefined {
  const located = objects.find(({ object }) => object === item);
  if (located !== undefined) return placeOf(located, objectField(message));
  return csv && placeOf(csv, ...(pathOf(bundle, item) ?? pathByText(message)));
}

/** Where in the CSV something of a bundle is. */
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

/** Fields of the CSV by what complaints about them have in their text. */
const fields: readonly (readonly [text: RegExp, path: FieldPath])[] = [
  [/install mode/i, ['spec', 'installModes']],
  [/serves containerPort/, ['spec', 'webhookdefinitions']],
];

function pathByText(text: string): FieldPath {
  return fields.find(([pattern]) => pattern.test(text))?.[1] ?? [];
}

function wayOut(text: string): string {
  if (/unsupported resource/.test(text))
    return 'remove the object, or install it by a plain bundle';
  return 'correct the ClusterServiceVersion';
}
