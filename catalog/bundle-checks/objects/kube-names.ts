import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import { type LocatedObject, placeOf } from '../bundle-content.ts';
import { error, type Finding } from '../problem.ts';

/** Checks a CRD's group and names by the rules of the API server. */
export function crdNameFindings(crd: LocatedObject): readonly Finding[] {
  return [...objectName(crd), ...group(crd), ...namesOf(crd)];
}

function objectName(crd: LocatedObject): readonly Finding[] {
  const spec = crd.object['spec'];
  const expected = `${stringAt(spec, 'names', 'plural') ?? ''}.${stringAt(spec, 'group') ?? ''}`;
  const name = stringAt(crd.object.metadata, 'name') ?? '';
  if (name === expected) return [];
  const message = `metadata.name: Invalid value: "${name}": must be spec.names.plural+"."+spec.group`;
  return [
    error({ place: placeOf(crd, 'metadata', 'name'), message, fix: `name it "${expected}"` }),
  ];
}

function group(crd: LocatedObject): readonly Finding[] {
  const name = stringAt(crd.object['spec'], 'group') ?? '';
  const place = placeOf(crd, 'spec', 'group');
  const fix = 'use a domain of your own, such as example.com';
  if (name === '') return [error({ place, message: 'spec.group: Required value', fix })];
  const problems = nameProblems('subdomain', name);
  if (problems.length === 0 && name.includes('.')) return [];
  const problem = problems.join(', ') || 'should be a domain with at least one dot';
  return [error({ place, message: `spec.group: Invalid value: "${name}": ${problem}`, fix })];
}

interface Name {
  readonly path: readonly (string | number)[];
  readonly text: string;
  /** True for kinds, whose case does not count. */
  readonly lower?: boolean;
  readonly isRequired?: boolean;
}

function namesOf(crd: LocatedObject): readonly Finding[] {
  const written = fieldAt(crd.object['spec'], 'names');
  const one = (field: string) => ({ path: [field], text: stringAt(written, field) ?? '' });
  const kind = one('kind');
  const listKind = one('listKind');
  const all: readonly Name[] = [
    { ...one('plural'), isRequired: true },
    // If absent, the API server derives it from the kind.
    one('singular'),
    { ...kind, lower: true, isRequired: true },
    { ...listKind, lower: true },
    ...listedNames(written, 'shortNames'),
    ...listedNames(written, 'categories'),
  ];
  return [...all.flatMap((name) => nameFindings(crd, name)), ...sameKinds(crd, kind.text)];
}

function listedNames(names: unknown, field: string): readonly Name[] {
  return listOf(fieldAt(names, field)).map((text, index) => ({
    path: [field, index],
    text: typeof text === 'string' ? text : '',
    isRequired: true,
  }));
}

function nameFindings(crd: LocatedObject, name: Name): readonly Finding[] {
  const { path, text, lower = false, isRequired = false } = name;
  const place = placeOf(crd, 'spec', 'names', ...path);
  const field = fieldText(['spec', 'names', ...path]);
  if (text === '') {
    return isRequired ? [error({ place, message: `${field}: Required value`, fix: 'set it' })] : [];
  }
  const problems = nameProblems('label', lower ? text.toLowerCase() : text);
  if (problems.length === 0) return [];
  const kind = lower ? 'may have mixed case, but should otherwise match: ' : '';
  const message = `${field}: Invalid value: "${text}": ${kind}${problems.join(',')}`;
  return [error({ place, message, fix: 'use letters, digits and "-"' })];
}

function sameKinds(crd: LocatedObject, kind: string): readonly Finding[] {
  if (kind === '' || stringAt(crd.object['spec'], 'names', 'listKind') !== kind) return [];
  const message = `spec.names.listKind: Invalid value: "${kind}": kind and listKind may not be the same`;
  const place = placeOf(crd, 'spec', 'names', 'listKind');
  return [error({ place, message, fix: `call it ${kind}List` })];
}

function fieldText(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, step) =>
      (typeof step === 'number' ? `${text}[${step}]` : `${text}.${step}`).replace(/^\./, ''),
    '',
  );
}

/** Kubernetes' rules for names, and its error texts. */

const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const labelValue = '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?';

const texts = {
  subdomain: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain}')`,
  label: `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
  labelValue: `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${labelValue}')`,
};

const patterns = {
  subdomain: new RegExp(`^${subdomain}$`),
  label: new RegExp(`^(?=[a-z])${label}$`),
  labelValue: new RegExp(`^${labelValue}$`),
};

const lengths = { subdomain: 253, label: 63, labelValue: 63 };

/** Why a name is invalid; empty for a valid one. */
export function nameProblems(kind: keyof typeof texts, name: string): readonly string[] {
  return [
    ...(name.length > lengths[kind] ? [`must be no more than ${lengths[kind]} characters`] : []),
    ...(patterns[kind].test(name) ? [] : [texts[kind]]),
  ];
}
