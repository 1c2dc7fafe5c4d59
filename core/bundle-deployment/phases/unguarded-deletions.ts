import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';

/** Milliseconds within which the next leader has read its caches after the end of a leader. */
const takeover = 60_000;

interface Noted {
  /** As the watch showed it last. */
  readonly deployment: BundleDeployment;
  /** Monotonic milliseconds of the note. */
  readonly at: number;
  isBegun?: boolean;
}

/**
 * Deployments that the API server deleted in spite of core's finalizer: it reads the finalizers,
 * calls the webhooks, and then deletes, and overlooks the finalizer that core adds meanwhile. Every
 * process notes them, so that the next leader removes their objects when the present one ends.
 */
export class UnguardedDeletions {
  readonly #options: Pick<BundleDeploymentDependencies, 'clock' | 'logger'>;
  readonly #noted = new Map<string, Noted>();
  /** Monotonic milliseconds of the first reconcile: before, another process led. */
  #workingSince: number | undefined;

  constructor(options: Pick<BundleDeploymentDependencies, 'clock' | 'logger'>) {
    this.#options = options;
  }

  note(deployment: BundleDeployment): void {
    const { name = '' } = deployment.metadata;
    this.#noted.set(name, { deployment, at: this.#options.clock.monotonic() });
  }

  /** The deployment of that name whose objects this process must remove, at its reconcile. */
  find(name: string): BundleDeployment | undefined {
    const { clock, logger } = this.#options;
    this.#workingSince ??= clock.monotonic();
    const noted = this.#noted.get(name);
    if (noted === undefined) return undefined;
    const object = { bundleDeployment: name };
    if (noted.at < this.#workingSince - takeover) {
      // What has its marks now can be a backup that somebody restored meanwhile.
      this.forget(name);
      logger.info(
        object,
        'the API server deleted the BundleDeployment without waiting for its finalizer while another process led: that process had to remove its objects, and this one deletes nothing',
      );
      return undefined;
    }
    if (noted.isBegun !== true) {
      noted.isBegun = true;
      logger.warn(
        object,
        'the API server deleted the BundleDeployment without waiting for its finalizer, which core had just added: core removes its objects',
      );
    }
    return noted.deployment;
  }

  forget(name: string): void {
    this.#noted.delete(name);
  }
}
