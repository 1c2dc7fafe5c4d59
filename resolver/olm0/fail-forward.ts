import { ResolutionError } from './entry.ts';
import type { InstalledBundle, NamespaceRequest } from './namespace-request.ts';

/**
 * Whether the last bundle in the chain of replacements of an installed one has failed.
 * @throws ResolutionError if one before the last is not being replaced, or the chain is a cycle.
 */
export function endsInFailure(
  bundle: InstalledBundle,
  installed: readonly InstalledBundle[],
  { namespace }: Pick<NamespaceRequest, 'namespace'>,
): boolean {
  const replacements = new Map(
    installed.filter(({ replaces }) => replaces !== '').map((each) => [each.replaces, each]),
  );
  const seen = new Set<InstalledBundle>();
  let last = bundle;
  for (;;) {
    const next = replacements.get(last.name);
    if (next === undefined) return last.phase === 'Failed';
    if (last.phase !== 'Replacing')
      throw new ResolutionError([
        `csv ${namespace}/${last.name} in phase ${last.phase} instead of Replacing`,
      ]);
    if (seen.has(last))
      throw new ResolutionError([`csv ${namespace}/${last.name} has already been seen`]);
    seen.add(last);
    last = next;
  }
}
