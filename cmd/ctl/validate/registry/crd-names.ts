import { fieldAt, listOf, stringAt } from '../../../../api/json-fields.ts';
import { error, type Finding } from '../finding.ts';
import type { LocatedObject } from '../manifest-objects.ts';
import { placeOf } from './bundle-content.ts';
import { nameProblems } from './kube-names.ts';

/** A CRD's group and names, as the API server judges them. */
export function crdNameFindings(crd: LocatedObject): readonly Finding[] {
  return [...objectName(crd), ...group(crd), ...names(crd)];
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
  /** Kinds are judged without regard to case. */
  readonly lower?: boolean;
  readonly isRequired?: boolean;
}

function names(crd: LocatedObject): readonly Finding[] {
  const written = fieldAt(crd.object['spec'], 'names');
  const one = (field: string) => ({ path: [field], text: stringAt(written, field) ?? '' });
  const kind = one('kind');
  const listKind = one('listKind');
  const all: readonly Name[] = [
    { ...one('plural'), isRequired: true },
    // Where they are absent, the API server makes them of the kind.
    one('singular'),
    { ...kind, lower: true, isRequired: true },
    { ...listKind, lower: true },
    ...list(written, 'shortNames'),
    ...list(written, 'categories'),
  ];
  return [...all.flatMap((name) => nameFindings(crd, name)), ...sameKinds(crd, kind.text)];
}

function list(names: unknown, field: string): readonly Name[] {
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
