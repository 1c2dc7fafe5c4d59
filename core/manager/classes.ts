import type { BundleDeployment } from '../../api/v1alpha1/index.ts';
import { type OwnPlaces, SharedFetches, UnpackSlots } from '../bundle/index.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { Clock } from '../platform/clock.ts';
import { FairSemaphore } from '../platform/runtime/index.ts';
import type { ManagerSettings } from './settings.ts';

/**
 * The classes that handle the kind, by name.
 * @throws Error for two classes of one name.
 */
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

/** By class name; classes with separate workers. */
export type OwnPlacesByClass = ReadonlyMap<string, OwnPlaces>;

/** Objects of both kinds share them. */
export function createOwnPlaces(
  { ownWorkers = new Map() }: Pick<ManagerSettings, 'ownWorkers'>,
  clock: Clock,
): OwnPlacesByClass {
  return new Map(
    Array.from(ownWorkers, ([className, size]) => [className, placesOf(size, clock)] as const),
  );
}

function placesOf(size: number, clock: Clock): OwnPlaces {
  // One more than a creator can use, so that other creators always reach the class.
  const workers = new FairSemaphore({ places: size + 1 });
  const slots = new UnpackSlots({ slots: size, active: workers, clock });
  return { workers, slots, fetches: new SharedFetches() };
}

interface OwnWorkersOptions {
  readonly deployments: { get(key: { readonly name: string }): BundleDeployment | undefined };
  /** By class name. */
  readonly ownPlaces: OwnPlacesByClass | undefined;
  /** By class name; classes whose Bundles this process unpacks. */
  readonly bundleClasses: ReadonlyMap<string, Provisioner>;
}

/**
 * The separate workers of a deployment: those of its class, otherwise those of the class that
 * adapts its content. A slow class then delays only its own deployments.
 */
export function ownWorkers({ deployments, ownPlaces, bundleClasses }: OwnWorkersOptions) {
  return (name: string): FairSemaphore | undefined => {
    const spec = deployments.get({ name })?.spec;
    if (spec === undefined) return undefined;
    const own = ownPlaces?.get(spec.provisionerClassName);
    if (own !== undefined) return own.workers;
    const ofBundle = spec.template.spec.provisionerClassName;
    if (bundleClasses.get(ofBundle)?.configure === undefined) return undefined;
    return ownPlaces?.get(ofBundle)?.workers;
  };
}
