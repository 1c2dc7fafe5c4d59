import type { Budget } from '../budget.ts';
import type { Property } from '../candidates/index.ts';
import { fieldIn } from './go-json.ts';
import type { GroupVersionKind } from './predicates.ts';

/** Names of the packages with a bundle that provides an API. */
export type PackagesProviding = (api: GroupVersionKind) => readonly string[];

/**
 * Names of all packages that may meet a valid requirement, by the packages and APIs that it names;
 * undefined if it names none, such as an expression alone. Judges no version.
 * @throws BudgetError
 */
export function possiblePackages(
  { type, value }: Property,
  providing: PackagesProviding,
  budget: Budget,
): readonly string[] | undefined {
  const named = readers.get(type)?.(value, { providing, budget });
  return named === undefined ? undefined : [...named].toSorted();
}

type Names = ReadonlySet<string>;
type Reader = (value: unknown, place: Place) => Names | undefined;

interface Place {
  readonly providing: PackagesProviding;
  readonly budget: Budget;
}

/** Steps of a name in each set that it is in: it is added, compared and sorted. */
const nameSteps = 50;

const readers: ReadonlyMap<string, Reader> = new Map([
  ['olm.package.required', ofPackage],
  ['olm.gvk.required', ofApi],
  ['olm.constraint', ofConstraint],
]);

function ofPackage(value: unknown): Names | undefined {
  const name = textIn(value, 'packageName');
  return name === undefined ? undefined : new Set([name]);
}

function ofApi(value: unknown, { providing, budget }: Place): Names | undefined {
  const [group, version, kind] = ['group', 'version', 'kind'].map((field) => textIn(value, field));
  if (group === undefined || version === undefined || kind === undefined) return undefined;
  const names = providing({ group, version, kind });
  budget.take(nameSteps * (names.length + 1));
  return new Set(names);
}

/** The order in which OLM looks at the parts of a constraint; the first one that it has counts. */
const parts: readonly (readonly [string, Reader])[] = [
  ['gvk', ofApi],
  ['package', ofPackage],
  ['all', ofAll],
  ['any', ofAny],
  ['not', () => undefined],
  ['cel', () => undefined],
];

function ofConstraint(value: unknown, place: Place): Names | undefined {
  for (const [name, read] of parts) {
    const part = fieldIn(value, name);
    if (part !== undefined) return read(part, place);
  }
  return undefined;
}

/** One bundle meets all of them: those that name nothing leave it to the others. */
function ofAll(value: unknown, place: Place): Names | undefined {
  const named = constraintsIn(value).flatMap((each) => ofConstraint(each, place) ?? []);
  const [first, ...others] = named;
  return others.reduce<Names | undefined>((left, right) => left?.intersection(right), first);
}

function ofAny(value: unknown, place: Place): Names | undefined {
  const all = new Set<string>();
  for (const each of constraintsIn(value)) {
    const named = ofConstraint(each, place);
    if (named === undefined) return undefined;
    place.budget.take(nameSteps * named.size);
    for (const name of named) all.add(name);
  }
  return all;
}

function constraintsIn(value: unknown): readonly unknown[] {
  const constraints = fieldIn(value, 'constraints');
  return Array.isArray(constraints) ? constraints : [];
}

function textIn(value: unknown, field: string): string | undefined {
  const text = fieldIn(value, field);
  return typeof text === 'string' ? text : undefined;
}
