import { fieldAt, isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import { errorMessage } from '../../../core/errors.ts';
import { parseJson } from '../../../core/sdk.ts';
import { type LocatedObject, placeOf } from '../bundle-content.ts';
import { error, type Finding, warning } from '../problem.ts';
import { groupOf, gvkText } from './bundle.ts';

const alm = 'alm-examples';
const olm = 'olm.examples';

/** Checks the examples of the operator's own kinds, which consoles offer to users. */
export function exampleFindings(csv: LocatedObject): readonly Finding[] {
  const annotations = mapOf(csv.object.metadata.annotations);
  const annotated = placeOf(csv, 'metadata', 'annotations');
  const fix = `add ${alm}: a JSON list with one object of each kind that the operator brings`;
  if (Object.keys(annotations).length === 0) {
    return [warning({ place: placeOf(csv, 'metadata'), message: 'annotations not found', fix })];
  }
  if (!(alm in annotations || olm in annotations)) {
    return [warning({ place: annotated, message: 'example annotations not found', fix })];
  }
  const key = alm in annotations ? alm : olm;
  const both = alm in annotations && olm in annotations ? [bothPresent(csv)] : [];
  return [...both, ...unnamedDefinitions(csv), ...judged(csv, key, annotations[key])];
}

function bothPresent(csv: LocatedObject): Finding {
  const message =
    'both `alm-examples` and `olm.examples` are present. Checking only `alm-examples`';
  const place = placeOf(csv, 'metadata', 'annotations', olm);
  return warning({ place, message, fix: `remove ${olm}` });
}

function judged(csv: LocatedObject, key: string, text: unknown): readonly Finding[] {
  const place = placeOf(csv, 'metadata', 'annotations', key);
  let examples: unknown;
  try {
    examples = typeof text === 'string' && text.trim() !== '' ? parseJson(text) : [];
  } catch (problem) {
    const reason = errorMessage(problem);
    const message = `invalid example: ${reason}`;
    const textLine = Number(/\bline (\d+)\b/.exec(reason)?.[1] ?? 1);
    return [error({ place: { ...place, textLine }, message, fix: 'correct the JSON in it' })];
  }
  if (!Array.isArray(examples) || !examples.every(isMap)) {
    const message = 'error decoding example CustomResource';
    return [
      error({ place, message, fix: 'write a JSON list of objects, also where there is only one' }),
    ];
  }
  return [...strangers(csv, key, examples), ...withoutExample(csv, examples)];
}

function strangers(
  csv: LocatedObject,
  key: string,
  examples: readonly unknown[],
): readonly Finding[] {
  const provided = new Set(providedKinds(csv).map(({ kind }) => kind));
  return [...new Set(examples.map(kindOf))]
    .filter((kind) => !provided.has(kind))
    .map((kind) =>
      error({
        place: {
          ...placeOf(csv, 'metadata', 'annotations', key),
          textLine: lineOfKind(csv, key, kind),
        },
        message: `Value ${kind}: example must have a provided API`,
        fix: 'remove the example, or add its kind to spec.customresourcedefinitions.owned',
      }),
    );
}

/** First line of the examples with the kind, from 1; 0 if there is none. */
function lineOfKind(csv: LocatedObject, key: string, gvk: string): number {
  const kind = `"${gvk.slice(gvk.indexOf('=') + 1)}"`;
  const lines = (stringAt(csv.object.metadata.annotations, key) ?? '').split('\n');
  return lines.findIndex((line) => line.includes('"kind"') && line.includes(kind)) + 1;
}

function withoutExample(csv: LocatedObject, examples: readonly unknown[]): readonly Finding[] {
  const shown = new Set(examples.map(kindOf));
  return providedKinds(csv)
    .filter(({ kind }) => !shown.has(kind))
    .map(({ kind, path }) =>
      warning({
        place: placeOf(csv, 'spec', ...path),
        message: `Value ${kind}: provided API should have an example annotation`,
        fix: `add an object of the kind to the annotation ${alm}`,
      }),
    );
}

interface ProvidedKind {
  readonly kind: string;
  readonly path: readonly (string | number)[];
}

function providedKinds({ object }: LocatedObject): readonly ProvidedKind[] {
  const owned = (field: string) => listOf(fieldAt(object['spec'], field, 'owned'));
  const crds = owned('customresourcedefinitions').map((entry, index) => ({
    kind: gvkText(groupOf(entry), stringAt(entry, 'version'), stringAt(entry, 'kind')),
    path: ['customresourcedefinitions', 'owned', index],
    isNamed: stringAt(entry, 'name')?.includes('.') === true,
  }));
  const services = owned('apiservicedefinitions').map((entry, index) => ({
    kind: gvkText(stringAt(entry, 'group'), stringAt(entry, 'version'), stringAt(entry, 'kind')),
    path: ['apiservicedefinitions', 'owned', index],
  }));
  return [...crds.filter(({ isNamed }) => isNamed), ...services];
}

function unnamedDefinitions(csv: LocatedObject): readonly Finding[] {
  const path = ['customresourcedefinitions', 'owned'];
  return listOf(fieldAt(csv.object['spec'], ...path)).flatMap((entry, index) => {
    const name = stringAt(entry, 'name') ?? '';
    if (name.includes('.')) return [];
    const message = `couldn't parse plural.group from crd name: ${name}`;
    const place = placeOf(csv, 'spec', ...path, index, 'name');
    return [error({ place, message, fix: 'write the name of the CRD: <plural>.<group>' })];
  });
}

function kindOf(example: unknown): string {
  const [group = '', version] = (stringAt(example, 'apiVersion') ?? '').split('/');
  const kind = stringAt(example, 'kind');
  return version === undefined ? gvkText('', group, kind) : gvkText(group, version, kind);
}
