import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { roughSize } from './rough-size.ts';

interface Entry {
  readonly key: string;
  readonly objects: readonly KubernetesObject[];
  readonly bytes: number;
}

/** What objects were made of. */
export interface Rendering {
  readonly deployment: BundleDeployment;
  readonly bundle: Bundle;
  /** `PreparedFacts.version`; nothing is remembered where it is undefined. */
  readonly factsVersion: string | undefined;
}

const defaultCapacity = 16 * 1024 * 1024;

/**
 * The objects of the deployments that were looked at last, so that an event about one object does
 * not load and parse the whole bundle again. Bounded by the size of objects and content.
 */
export class RenderedObjects {
  readonly #capacity: number;
  /** By deployment name, the longest unused first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(capacity = defaultCapacity) {
    this.#capacity = capacity;
  }

  /** What was made of exactly this, if it is remembered. */
  get(rendering: Rendering): readonly KubernetesObject[] | undefined {
    const name = rendering.deployment.metadata.name ?? '';
    const entry = this.#entries.get(name);
    if (entry === undefined || entry.key !== keyOf(rendering)) return undefined;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry.objects;
  }

  /** Remembers objects, and counts for them what they or their content take, whichever is more. */
  set(rendering: Rendering, objects: readonly KubernetesObject[], contentBytes: number): void {
    const name = rendering.deployment.metadata.name ?? '';
    this.forget(name);
    const key = keyOf(rendering);
    const bytes = Math.max(contentBytes, roughSize(objects, this.#capacity));
    if (bytes > this.#capacity || key === undefined) return;
    this.#entries.set(name, { key, objects, bytes });
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
function keyOf({ deployment, bundle, factsVersion }: Rendering): string | undefined {
  if (factsVersion === undefined) return undefined;
  const { uid, generation, labels, annotations } = deployment.metadata;
  // Metadata may be changed without a new generation.
  return JSON.stringify([uid, generation, labels, annotations, bundle.metadata.uid, factsVersion]);
}
