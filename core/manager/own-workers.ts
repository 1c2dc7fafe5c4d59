import type { BundleDeployment } from '../../api/v1alpha1/index.ts';
import type { OwnPlaces } from '../bundle/index.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { FairSemaphore } from '../platform/runtime/index.ts';

export interface OwnWorkersOptions {
  readonly deployments: { get(key: { readonly name: string }): BundleDeployment | undefined };
  /** By class name. */
  readonly ownPlaces: ReadonlyMap<string, OwnPlaces> | undefined;
  /** By class name, whose Bundles this process unpacks. */
  readonly bundleClasses: ReadonlyMap<string, Provisioner>;
}

/**
 * Whose workers a deployment takes: those of its class where it has some, else those of the class
 * that adapts its content. A class that is slow then holds up deployments of its own.
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
