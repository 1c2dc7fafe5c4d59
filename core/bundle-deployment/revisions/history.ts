import { stringifyJson } from '../../../api/json.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { Revision } from '../../../api/v1alpha1/deployment-progress.ts';

/** Of 1.5 MiB that etcd takes of an object: a template may have 256 KiB of annotations. */
const maxBytes = 256 * 1024;

/** status.history: one entry per Bundle, the latest first. All functions here are pure. */
export type History = readonly Revision[];

export type NewRevision = Omit<Revision, 'revision'>;

/** With a Bundle that was applied: a new revision, also where an earlier one was of that Bundle. */
export function withRevision(history: History, added: NewRevision): History {
  const revision = Math.max(0, ...history.map((entry) => entry.revision)) + 1;
  return [{ revision, ...added }, ...history.filter(({ bundle }) => bundle !== added.bundle)];
}

/** With a Bundle that was healthy for the first time. */
export function withHealthy(history: History, bundle: string, healthyAt: string): History {
  return history.map((entry) =>
    entry.bundle === bundle && entry.healthyAt === undefined ? { ...entry, healthyAt } : entry,
  );
}

/** With a Bundle that was given up for an earlier one. */
export function withRolledBack(history: History, bundle: string, rolledBackAt: string): History {
  return history.map((entry) => (entry.bundle === bundle ? { ...entry, rolledBackAt } : entry));
}

/** The latest revision that was healthy and is not of the Bundle `except`. */
export function lastHealthy(history: History, except: string): Revision | undefined {
  return history.find(({ bundle, healthyAt }) => bundle !== except && healthyAt !== undefined);
}

/**
 * The latest revision and `kept` earlier ones, as far as there is room. The active one and the last
 * healthy one are always among them, however many that never were healthy came after them.
 */
export function trimmed(
  history: History,
  { kept, active }: { readonly kept: number; readonly active: string | undefined },
): History {
  const [latest, ...earlier] = history;
  if (latest === undefined || kept === 0) return [];
  const needed = earlier.filter(
    (entry) => entry.bundle === active || entry === lastHealthy(earlier, latest.bundle),
  );
  const byUse = new Set([...needed, ...earlier]);
  let bytes = bytesOf(latest);
  const fitting = [...byUse].filter((entry, index) => {
    bytes += bytesOf(entry);
    return index < needed.length || (index < kept && bytes <= maxBytes);
  });
  const chosen = new Set(fitting);
  return history.filter((entry) => entry === latest || chosen.has(entry));
}

function bytesOf(revision: Revision): number {
  return Buffer.byteLength(stringifyJson(revision));
}

/** Whether a Bundle is kept to go back to. */
export function isRevision(
  { metadata }: Bundle,
  { history = [] }: BundleDeploymentStatus,
): boolean {
  return history.some(({ bundle }) => bundle === metadata.name);
}
