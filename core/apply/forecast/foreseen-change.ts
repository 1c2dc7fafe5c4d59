import { stringifyJson } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { FieldChange, ForecastChange } from '../../contracts/applier.ts';
import { objectID } from '../objects/object-id.ts';
import { type FieldDifference, fieldDifferences } from './field-differences.ts';
import type { ForeseenObject } from './forecast-objects.ts';
import { isSecret, mask, secretFields, withoutCopy } from './secret-values.ts';
import { wantedContent } from './wanted-content.ts';

/** Of one object; a person reads no more. */
const shownFields = 100;
const shownLength = 200;

/** A change as it may be shown, and all that an approval of it is about. */
export interface ForeseenChange {
  readonly change: ForecastChange;
  /** Equal for equal changes; has what is masked in the change. */
  readonly identity: readonly unknown[];
}

/** What a foreseen object says; undefined where it stays as it is. */
export function foreseenChange(foreseen: ForeseenObject): ForeseenChange | undefined {
  const { resource, key, desired, before, after } = foreseen;
  const { group, kind } = resource;
  const object = {
    group,
    kind,
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    name: key.name,
  };
  const id = objectID(resource, key);
  const uid = before?.metadata.uid;
  if (desired === undefined || after === undefined) {
    return { change: { action: 'Delete', ...object }, identity: ['Delete', id, uid] };
  }
  if (before === undefined) {
    return { change: { action: 'Create', ...object }, identity: ['Create', id, desired.digest] };
  }
  const differences = fieldDifferences(comparable(before), comparable(after));
  if (differences.length === 0) return undefined;
  // What admission makes of a wish may differ each time; what is there, and the wish, must not.
  const found = differences.map(({ path, before }) => [path, before]);
  return {
    change: { action: 'Change', ...object, ...shown(differences, isSecret(after)) },
    identity: ['Change', id, uid, desired.digest, found],
  };
}

function comparable(object: KubernetesObject): unknown {
  const content = wantedContent(object);
  return isSecret(content) ? { ...content, metadata: withoutCopy(content.metadata) } : content;
}

function shown(
  differences: readonly FieldDifference[],
  secret: boolean,
): Pick<ForecastChange, 'fields' | 'moreFields'> {
  const fields = differences
    .slice(0, shownFields)
    .map((difference) => fieldChange(difference, secret && isValue(difference.path)));
  const moreFields = differences.length - fields.length;
  return { fields, ...(moreFields === 0 ? {} : { moreFields }) };
}

function isValue(path: string): boolean {
  const [field = ''] = path.split(/[.[]/);
  return secretFields.includes(field);
}

function fieldChange({ path, before, after }: FieldDifference, masked: boolean): FieldChange {
  return {
    path: shortened(path),
    ...(before === undefined ? {} : { before: masked ? mask : textOf(before) }),
    ...(after === undefined ? {} : { after: masked ? mask : textOf(after) }),
  };
}

function textOf(value: unknown): string {
  return shortened(stringifyJson(value));
}

function shortened(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`;
}
