import type { CatalogReference, Property } from '../candidates/index.ts';
import type { Explanation } from '../explain/index.ts';
import type { Version } from '../versions/index.ts';

export type NamespaceResolution = ResolvedNamespace | FailedNamespace;

export interface ResolvedNamespace {
  readonly kind: 'resolved';
  /** Sorted by catalog, channel and name; empty if everything may stay as it is. */
  readonly bundles: readonly BundleToInstall[];
  /** Subscriptions to create, for bundles that no Subscription asks for. */
  readonly generated: readonly GeneratedSubscription[];
  /** New values of status.currentCSV, by the names of Subscriptions. */
  readonly currentCSVs: ReadonlyMap<string, string>;
  /** One Manual Subscription makes the installation of all bundles Manual. */
  readonly approval: 'Automatic' | 'Manual';
}

export interface BundleToInstall {
  readonly name: string;
  readonly catalog: Pick<CatalogReference, 'name' | 'namespace'>;
  readonly packageName: string;
  readonly channel: string;
  readonly version: Version | undefined;
  readonly image: string;
  /** For spec.replaces of the ClusterServiceVersion; empty for none. */
  readonly replaces: string;
  /** For the annotation `operatorframework.io/properties`. */
  readonly properties: readonly Property[];
}

export interface GeneratedSubscription {
  readonly name: string;
  readonly packageName: string;
  readonly channel: string;
  readonly catalog: Pick<CatalogReference, 'name' | 'namespace'>;
  readonly startingCSV: string;
  readonly approval: 'Automatic';
}

export interface FailedNamespace {
  readonly kind: 'failed';
  /**
   * Of the condition ResolutionFailed. `ConstraintsNotSatisfiable`: nothing changes until an input does;
   * `ErrorPreventedResolution`: worth a retry.
   */
  readonly reason: 'ConstraintsNotSatisfiable' | 'ErrorPreventedResolution';
  /** OLM's text, to the letter. */
  readonly message: string;
  readonly explanation: Explanation;
}
