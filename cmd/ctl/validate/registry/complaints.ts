import type { Installation } from '../../../../provisioners/registry/installation/installation.ts';
import type { RegistryBundle } from '../../../../provisioners/registry/registry-bundle.ts';
import { type Validator, validators } from '../../../../provisioners/registry/validators/index.ts';
import { error, type Finding } from '../finding.ts';
import type { FieldPath, FieldPlace } from '../source-lines.ts';
import { type BundleContent, placeOf } from './bundle-content.ts';

/** More of one kind help nobody. */
const maxComplaints = 50;

/**
 * What the class's validators say of a bundle. Each names its first reason only, so that this is
 * taken out of the bundle, and the validator asked again.
 */
export function complaintsOf(
  content: BundleContent,
  bundle: RegistryBundle,
  installation: Installation,
): readonly Finding[] {
  return validators.flatMap((validate) =>
    allOf(validate, bundle, installation).map(({ text, element }) => {
      const [message = text, ...fix] = text.split(/; |: (?=write |the operator supports none)/);
      const place = placeFor(content, text, element);
      return error({ ...(place && { place }), message, fix: fix.join('; ') || wayOut(text) });
    }),
  );
}

interface Complaint {
  readonly text: string;
  /** What it went away with. */
  readonly element: Element | undefined;
}

/** Something of a bundle that may be to blame by itself. */
interface Element {
  readonly item: object;
  readonly path: FieldPath;
}

function allOf(
  validate: Validator,
  whole: RegistryBundle,
  installation: Installation,
): readonly Complaint[] {
  const complaints: Complaint[] = [];
  let bundle = whole;
  while (complaints.length < maxComplaints) {
    const text = validate(bundle, installation);
    if (text === undefined) break;
    const known = bundle;
    const element = elementsOf(whole).find(
      ({ item }) => isIn(known, item) && validate(without(known, item), installation) !== text,
    );
    if (element === undefined) return [...complaints, { text, element }];
    const rest = without(bundle, element.item);
    // A complaint about several is told of each by itself.
    const alone = known.crds.filter((crd) => crd === element.item);
    const ofOne = alone.length > 0 ? validate({ ...known, crds: alone }, installation) : undefined;
    complaints.push({ text: ofOne ?? text, element });
    bundle = rest;
  }
  return complaints;
}

function elementsOf({ csv, others, crds }: RegistryBundle): readonly Element[] {
  return [
    ...elements(csv.webhookDefinitions, 'spec', 'webhookdefinitions'),
    ...elements(csv.ownedApiServices, 'spec', 'apiservicedefinitions', 'owned'),
    ...elements(others),
    ...elements(crds),
  ];
}

function elements(list: readonly object[], ...path: FieldPath): readonly Element[] {
  return list.map((item, index) => ({ item, path: [...path, index] }));
}

function isIn({ csv, others, crds }: RegistryBundle, item: object): boolean {
  const lists: readonly (readonly object[])[] = [
    crds,
    csv.webhookDefinitions,
    csv.ownedApiServices,
    others,
  ];
  return lists.some((list) => list.includes(item));
}

function without(bundle: RegistryBundle, item: object): RegistryBundle {
  const { csv, others, crds } = bundle;
  const rest = <T extends object>(list: readonly T[]): readonly T[] =>
    list.filter((each) => each !== item);
  return {
    ...bundle,
    csv: {
      ...csv,
      webhookDefinitions: rest(csv.webhookDefinitions),
      ownedApiServices: rest(csv.ownedApiServices),
    },
    others: rest(others),
    crds: rest(crds),
  };
}

function placeFor(
  { objects, csv }: BundleContent,
  text: string,
  element: Element | undefined,
): FieldPlace | undefined {
  const located = objects.find(({ object }) => object === element?.item);
  if (located !== undefined) return placeOf(located, objectField(text));
  if (csv === undefined) return undefined;
  if (element !== undefined) return placeOf(csv, ...element.path);
  const path = fields.find(([pattern]) => pattern.test(text))?.[1] ?? [];
  return placeOf(csv, ...path);
}

function objectField(text: string): string {
  if (text.includes('preserveUnknownFields')) return 'spec';
  return text.includes('v1beta1') ? 'apiVersion' : 'kind';
}

/** Fields of the CSV by what complaints about them have in their text. */
const fields: readonly (readonly [text: RegExp, path: FieldPath])[] = [
  [/install mode/i, ['spec', 'installModes']],
  [/serves containerPort/, ['spec', 'webhookdefinitions']],
  [/minKubeVersion/i, ['spec', 'minKubeVersion']],
  [/required/, ['spec', 'customresourcedefinitions', 'required']],
  [/webhook/i, ['spec', 'webhookdefinitions']],
  [/api ?service/i, ['spec', 'apiservicedefinitions', 'owned']],
];

function wayOut(text: string): string {
  if (/unsupported resource/.test(text))
    return 'remove the object, or install it by a plain bundle';
  return 'correct the ClusterServiceVersion';
}
