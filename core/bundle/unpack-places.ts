import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { FairSemaphore } from '../platform/runtime/index.ts';
import type { SharedFetches } from './shared-fetches.ts';
import type { UnpackSlots } from './unpack-slots.ts';

/** Where Bundles wait for each other. */
export interface UnpackPlaces {
  readonly slots: UnpackSlots;
  readonly fetches: SharedFetches;
}

/** The places of one class alone, for its deployments too: none waits for a process meanwhile. */
export interface OwnPlaces extends UnpackPlaces {
  readonly workers: FairSemaphore;
}

/** The places that a class shares with others, but for those that have some of their own. */
export interface ClassPlaces extends UnpackPlaces {
  /** By class name. */
  readonly ownPlaces?: ReadonlyMap<string, OwnPlaces>;
}

export function placesOf({ spec }: Bundle, { ownPlaces, ...shared }: ClassPlaces): UnpackPlaces {
  return ownPlaces?.get(spec.provisionerClassName) ?? shared;
}
