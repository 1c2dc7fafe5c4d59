import type { KubernetesObject } from '../../../api/meta.ts';
import { type Claim, claimantName } from './made-operator.ts';

/** Maximum number of Operators that are made for one object of a user, directly or through others. */
export const mostMade = 50;

/** Claims on each package for which an Operator is made. */
export type ClaimsByPackage = ReadonlyMap<string, readonly Claim[]>;

/**
 * The objects of users that need each package, by their names. Operators that the controller made
 * are never owners: a cycle of owners would outlive the last Operator that needs it.
 */
export function ownersByPackage(
  claims: ClaimsByPackage,
  ofUsers: readonly KubernetesObject[],
): ReadonlyMap<string, readonly KubernetesObject[]> {
  const needed = new Map<string, string[]>();
  for (const [name, list] of claims) {
    for (const { operator } of list) needed.set(operator, [...(needed.get(operator) ?? []), name]);
  }
  const owners = new Map<string, KubernetesObject[]>([...claims.keys()].map((name) => [name, []]));
  const sorted = ofUsers.toSorted((a, b) => (claimantName(a) < claimantName(b) ? -1 : 1));
  for (const object of sorted) {
    // Iterating a Set includes values that are added meanwhile. A made Operator has the name of its
    // package.
    const reached = new Set(needed.get(claimantName(object)));
    for (const name of reached) for (const next of needed.get(name) ?? []) reached.add(next);
    for (const name of reached) owners.get(name)?.push(object);
  }
  return owners;
}

/** The packages past the maximum of any of their owners, with its claimant name; packages of `existing` count first. */
export function pastMaximum(
  owners: ReadonlyMap<string, readonly KubernetesObject[]>,
  existing: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const counts = new Map<KubernetesObject, number>();
  const past = new Map<string, string>();
  const order = [...owners].toSorted(
    ([a], [b]) => Number(existing.has(b)) - Number(existing.has(a)) || (a < b ? -1 : 1),
  );
  for (const [name, list] of order) {
    const full = list.find((owner) => (counts.get(owner) ?? 0) >= mostMade);
    if (full !== undefined && !existing.has(name)) {
      past.set(name, claimantName(full));
      continue;
    }
    for (const owner of list) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  return past;
}
