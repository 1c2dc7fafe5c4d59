const shownNames = 12;

/** The names of the BundleDeployments that one of them depends on. */
export type DependenciesOf = (name: string) => readonly string[];

/**
 * The shortest path from a deployment over one of its dependencies back to itself, such as `a`,
 * `b`, `a`; undefined when there is none.
 */
export function dependencyCycle(
  { name, dependency }: { readonly name: string; readonly dependency: string },
  dependenciesOf: DependenciesOf,
): readonly string[] | undefined {
  const cameFrom = new Map<string, string>([[dependency, name]]);
  // Iterating a Map includes keys that are added meanwhile.
  for (const current of cameFrom.keys()) {
    if (current === name) return wayTo(name, cameFrom);
    for (const next of dependenciesOf(current)) {
      if (!cameFrom.has(next)) cameFrom.set(next, current);
    }
  }
  return undefined;
}

/** `a -> b -> a`; start and end of a long one. */
export function cycleText(cycle: readonly string[]): string {
  const left = cycle.length - shownNames;
  const shown =
    left <= 1 ? cycle : [...cycle.slice(0, shownNames - 1), `(${left} more)`, ...cycle.slice(-1)];
  return shown.join(' -> ');
}

function wayTo(name: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const way = [name];
  let current = cameFrom.get(name);
  while (current !== undefined && current !== name) {
    way.push(current);
    current = cameFrom.get(current);
  }
  return [...way, name].toReversed();
}
