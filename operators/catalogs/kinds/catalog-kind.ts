import type { KubernetesObject } from '../../../api/meta.ts';
import type { Clock, Resource } from '../../../core/controller.ts';
import type { CatalogKind } from '../catalog-contents.ts';
import type { StoredState } from '../content/content-store.ts';
import type { CatalogFailure } from '../source/catalog-failure.ts';
import type { ImageRequest } from '../source/catalog-image.ts';

/** What an object of a kind of catalogs asks for, and what its status remembers. */
export interface CatalogRequest {
  readonly labels: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly isAvailable: boolean;
  /** The image, or what is wrong with the spec. */
  readonly image: ImageRequest | CatalogFailure;
  /** Milliseconds between two polls; undefined for none. */
  readonly pollInterval: number | undefined;
  readonly remembered: {
    /** The image whose content is served, or was until this content got lost. */
    readonly resolvedRef: string | undefined;
    /** Whether the leader had content when it wrote the status. */
    readonly isServed: boolean;
    /** Milliseconds since the epoch. */
    readonly polledAt: number | undefined;
    /**
     * The generation that has been unpacked without an error; undefined after one, unless only the
     * unpacked content got lost.
     */
    readonly generation: number | undefined;
    /** Why not; undefined if nothing is wrong. */
    readonly problem: string | undefined;
  };
}

/** Content that is served, for a status. */
export interface ServedState extends StoredState {
  readonly packages: number;
}

/** What came of a reconcile. */
export type CatalogOutcome =
  /** `at` is the time of the poll, in milliseconds since the epoch. */
  | { readonly kind: 'unpacked'; readonly served: ServedState; readonly at: number }
  | {
      readonly kind: 'failed';
      readonly failure: CatalogFailure;
      /** Former content, which still serves. */
      readonly served: ServedState | undefined;
      readonly isBlocked: boolean;
      /**
       * The content that got lost, if it is all that is missing: neither the spec nor a poll asks for
       * other content.
       */
      readonly lost?: string | undefined;
    }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'deletion failed'; readonly message: string };

export interface StatusContext {
  /** Base URL of the content server, without a slash at the end. */
  readonly address: string;
  readonly clock: Clock;
}

/** How a kind spells requests and outcomes. */
export interface CatalogKindAdapter {
  readonly kind: CatalogKind;
  readonly resource: Resource;
  readonly finalizer: string;
  /** Labels that every object has. */
  labelsOf(name: string): Readonly<Record<string, string>>;
  /** Never throws, whatever the object has. */
  read(object: KubernetesObject): CatalogRequest;
  /** The failure for people, as the status has it. */
  textOf(failure: CatalogFailure): string;
  /** The status with the URL of its content at this address; undefined if it needs no change. */
  relocated(object: KubernetesObject, address: string): object | undefined;
  /** The new status. */
  status(object: KubernetesObject, outcome: CatalogOutcome, context: StatusContext): object;
}
