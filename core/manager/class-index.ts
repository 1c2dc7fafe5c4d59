import type { Provisioner } from '../contracts/provisioner.ts';

/** Class name to class, of those that handle the kind; refuses two of one name. */
export function classesWith(
  provisioners: readonly Provisioner[],
  handler: 'bundle' | 'deployment',
): ReadonlyMap<string, Provisioner> {
  const names = new Set<string>();
  for (const { className } of provisioners) {
    if (names.has(className)) throw new Error(`two provisioners have the class "${className}"`);
    names.add(className);
  }
  return new Map(
    provisioners
      .filter((provisioner) => provisioner[handler] !== undefined)
      .map((provisioner) => [provisioner.className, provisioner]),
  );
}
