import type { Installation } from '../deployment/installation.ts';
import type { Extension } from '../extension.ts';
import type { Choice, ConditionUpdate } from '../findings.ts';

/** What a bundle may do that requires others. */
export interface Admission {
  /**
   * `judging`: nothing is known yet; the gate wakes the object as soon as it is.
   * `held`: the bundle waits for what it requires.
   */
  readonly state: 'admitted' | 'held' | 'judging';
  /** In place of what the choice alone says; undefined for a bundle that requires nothing. */
  readonly condition: ConditionUpdate | undefined;
}

/** Installs what bundles require, before these bundles. */
export interface DependencyGate {
  /** Call this at each reconcile; without a choice if there is none because of an error. */
  admit(extension: Extension, choice: Choice | undefined, installation: Installation): Admission;
  /** The object is gone. */
  forget(extension: string): void;
}
