import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { OutOfTimeError } from '../../classes/index.ts';
import type { LeftOutObject } from '../../contracts/applier.ts';
import type { TerminalError } from '../../errors.ts';
import type { Facts } from '../facts/render-facts.ts';
import type { DeploymentMemories, DeploymentMemory } from '../memory.ts';

/** The inputs of a rendering. */
export interface Rendering {
  readonly deployment: BundleDeployment;
  readonly bundle: Bundle;
  /** `PreparedFacts.version`; when undefined, the rendering is not remembered. */
  readonly factsVersion: string | undefined;
}

/** Everything that is needed to render the same objects again, while the content exists. */
export interface Recipe extends Rendering {
  readonly facts: Facts;
}

export interface Rendered {
  readonly recipe: Recipe;
  readonly objects: readonly KubernetesObject[];
  readonly leftOut: readonly LeftOutObject[];
}

export interface RenderedEntry {
  readonly key: string;
  readonly rendered: Rendered;
  readonly bytes: number;
  /** Counter of uses, across all deployments. */
  usedAt: number;
}

/** A rendering that failed, and would again. */
export interface FailureEntry {
  readonly key: string;
  readonly error: TerminalError;
}

const defaultCapacity = 16 * 1024 * 1024;

/**
 * The rendered objects of recently reconciled deployments, so that an event about one object does
 * not load and parse the whole bundle again. Limited by the size of objects and content.
 */
export class RenderedObjects {
  readonly #memories: DeploymentMemories;
  readonly #capacity: number;
  #uses = 0;

  constructor(memories: DeploymentMemories, capacity = defaultCapacity) {
    this.#memories = memories;
    this.#capacity = capacity;
  }

  /** The remembered objects for exactly these inputs. */
  get(rendering: Rendering): Rendered | undefined {
    const { rendered = [] } = this.#memories.of(rendering.deployment.metadata.name);
    const key = keyOf(rendering);
    const entry = rendered.find((each) => each.key === key);
    if (entry === undefined) return undefined;
    entry.usedAt = ++this.#uses;
    return entry.rendered;
  }

  /**
   * Remembers objects, and counts their size or that of their content, whichever is larger. Of one
   * deployment two are remembered: while its Bundle is refused, the active one stands in for it.
   */
  set(rendered: Rendered, contentBytes: number): void {
    const { recipe, objects, leftOut } = rendered;
    const memory = this.#memories.of(recipe.deployment.metadata.name);
    const key = keyOf(recipe);
    const others = (memory.rendered ?? []).filter((each) => each.key !== key);
    const kept = others.toSorted((a, b) => b.usedAt - a.usedAt).slice(0, 1);
    memory.rendered = kept;
    const bytes = Math.max(contentBytes, roughSize([objects, leftOut], this.#capacity));
    if (bytes > this.#capacity || key === undefined) return;
    memory.rendered = [{ key, rendered, bytes, usedAt: ++this.#uses }, ...kept];
    while (this.#bytes() > this.#capacity) this.#dropOldest();
  }

  /** The error with which rendering these inputs has failed before. */
  failureOf(rendering: Rendering): TerminalError | undefined {
    const { failedRendering: failed } = this.#memories.of(rendering.deployment.metadata.name);
    const isSame = failed !== undefined && failed.key === failureKeyOf(rendering, failed);
    return isSame ? failed.error : undefined;
  }

  /** Remembers that rendering these inputs fails, or takes too long. */
  setFailure(rendering: Rendering, error: TerminalError): void {
    const key = failureKeyOf(rendering, { error });
    if (key === undefined) return;
    this.#memories.of(rendering.deployment.metadata.name).failedRendering = { key, error };
  }

  #bytes(): number {
    let bytes = 0;
    for (const memory of this.#memories.all()) {
      for (const entry of memory.rendered ?? []) bytes += entry.bytes;
    }
    return bytes;
  }

  #dropOldest(): void {
    let oldest: RenderedEntry | undefined;
    let of: DeploymentMemory | undefined;
    for (const memory of this.#memories.all()) {
      for (const entry of memory.rendered ?? []) {
        if (entry.usedAt > (oldest?.usedAt ?? Number.POSITIVE_INFINITY)) continue;
        oldest = entry;
        of = memory;
      }
    }
    if (of !== undefined) of.rendered = (of.rendered ?? []).filter((entry) => entry !== oldest);
  }
}

/** Without metadata for an endless rendering, which a new annotation must not repeat. */
function failureKeyOf(
  rendering: Rendering,
  { error }: Pick<FailureEntry, 'error'>,
): string | undefined {
  const { deployment, bundle, factsVersion } = rendering;
  if (factsVersion === undefined || !(error instanceof OutOfTimeError)) return keyOf(rendering);
  const { uid, generation } = deployment.metadata;
  return JSON.stringify([uid, generation, bundle.metadata.uid, factsVersion]);
}

/** A generation's spec never changes, nor does the content under a Bundle's UID. */
function keyOf({ deployment, bundle, factsVersion }: Rendering): string | undefined {
  if (factsVersion === undefined) return undefined;
  const { uid, generation, labels, annotations = {} } = deployment.metadata;
  // Metadata changes without a new generation; core writes these annotations after the first
  // rendering.
  const { [annotation.seed]: _, [annotation.notedStatus]: __, ...others } = annotations;
  return JSON.stringify([uid, generation, labels, others, bundle.metadata.uid, factsVersion]);
}

/** Bytes per value besides its text: a number, a bracket, a quote. */
const each = 8;

/**
 * Approximate number of characters of a value as JSON; stops counting above the bound. The size of
 * the content is no estimate, because a class may render much from little content.
 */
export function roughSize(value: unknown, bound: number): number {
  const rest: unknown[] = [value];
  let size = 0;
  for (let next = rest.pop(); next !== undefined && size <= bound; next = rest.pop()) {
    size += each;
    if (typeof next === 'string') size += next.length;
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, item] of Object.entries(next)) {
      if (!Array.isArray(next)) size += key.length;
      if (item !== undefined) rest.push(item);
    }
  }
  return size;
}
