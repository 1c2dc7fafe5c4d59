import type { KubernetesObject } from '../../../api/meta.ts';
import type { Clock } from '../clock.ts';

/** Milliseconds that a process of the class has to end a deletion: it may be restarting. */
export const unservedGrace = 30_000;

/**
 * Deletions of objects whose class this process does not serve. One that nobody has ended for a while
 * is this process's to end: the class may be gone for good, and its finalizer would stay for ever.
 */
export class UnservedDeletions {
  readonly #clock: Clock;
  /** By name of the object. */
  readonly #seen = new Map<string, { readonly uid: string; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until this process may end the deletion; 0 or less from then on. */
  remaining({ metadata: { name = '', uid = '' } }: KubernetesObject): number {
    const now = this.#clock.monotonic();
    const known = this.#seen.get(name);
    const seen = known?.uid === uid ? known : { uid, since: now };
    this.#seen.set(name, seen);
    return seen.since + unservedGrace - now;
  }

  forget(name: string): void {
    this.#seen.delete(name);
  }
}
