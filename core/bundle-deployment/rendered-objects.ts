import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';

interface Entry {
  readonly key: string;
  readonly objects: readonly KubernetesObject[];
  readonly bytes: number;
}

const defaultCapacity = 16 * 1024 * 1024;

/**
 * The objects of the deployments that were looked at last, so that an event about one object does
 * not load and parse the whole bundle again. Bounded by the content that the objects came from.
 */
export class RenderedObjects {
  readonly #capacity: number;
  /** By deployment name, the longest unused first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(capacity = defaultCapacity) {
    this.#capacity = capacity;
  }

  /** What this version of the deployment made of this Bundle, if it is remembered. */
  get(deployment: BundleDeployment, bundle: Bundle): readonly KubernetesObject[] | undefined {
    const name = deployment.metadata.name ?? '';
    const entry = this.#entries.get(name);
    if (entry?.key !== keyOf(deployment, bundle)) return undefined;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry.objects;
  }

  /** Remembers objects that were made of `bytes` of content. */
  set(
    { deployment, bundle }: { deployment: BundleDeployment; bundle: Bundle },
    objects: readonly KubernetesObject[],
    bytes: number,
  ): void {
    const name = deployment.metadata.name ?? '';
    this.forget(name);
    if (bytes > this.#capacity) return;
    this.#entries.set(name, { key: keyOf(deployment, bundle), objects, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#capacity) return;
      this.forget(oldest);
    }
  }

  forget(deploymentName: string): void {
    this.#bytes -= this.#entries.get(deploymentName)?.bytes ?? 0;
    this.#entries.delete(deploymentName);
  }
}

/** Content never changes under a Bundle's UID, nor what a class sees of a deployment's generation. */
function keyOf(deployment: BundleDeployment, bundle: Bundle): string {
  const { uid, generation, labels, annotations } = deployment.metadata;
  // Metadata may be changed without a new generation.
  return JSON.stringify([uid, generation, labels, annotations, bundle.metadata.uid]);
}
