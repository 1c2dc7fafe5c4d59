import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { renderingOf } from './plan/approval.ts';
import type { Recipe } from './rendered-objects.ts';

interface Entry {
  readonly recipe: Recipe;
  /** The generation of the deployment that has begun to replace it. */
  readonly replacedBy?: number;
}

/**
 * What the objects of each deployment were made of that were applied last, all of them: where
 * nothing can be made of what is asked for since, of that it can. Known to this process alone, and
 * without the objects, which are many.
 */
export class LastApplied {
  /** By deployment name. */
  readonly #entries = new Map<string, Entry>();

  /** To be called before anything of what was made is applied. */
  begin({ metadata }: BundleDeployment, made: Recipe): void {
    const { name = '', generation = 0 } = metadata;
    const entry = this.#entries.get(name);
    if (entry === undefined || isSame(entry.recipe, made)) return;
    this.#entries.set(name, { ...entry, replacedBy: generation });
  }

  /** To be called when all of it is applied. */
  complete({ metadata }: BundleDeployment, made: Recipe): void {
    this.#entries.set(metadata.name ?? '', { recipe: made });
  }

  /**
   * Undefined where that was another Bundle, and where something else has begun to replace it that
   * is still asked for: to go back then would only do harm.
   */
  get({ metadata }: BundleDeployment, bundle: Bundle): Recipe | undefined {
    const { name = '', uid, generation = 0 } = metadata;
    const { recipe, replacedBy } = this.#entries.get(name) ?? {};
    if (recipe?.deployment.metadata.uid !== uid || replacedBy === generation) return undefined;
    return recipe?.bundle.metadata.uid === bundle.metadata.uid ? recipe : undefined;
  }

  forget(deploymentName: string): void {
    this.#entries.delete(deploymentName);
  }
}

/** A spec has more than what objects are made of. */
function isSame(a: Recipe, b: Recipe): boolean {
  if (a === b) return true;
  return (
    a.bundle.metadata.uid === b.bundle.metadata.uid &&
    a.factsVersion !== undefined &&
    a.factsVersion === b.factsVersion &&
    renderingOf(a.deployment.spec) === renderingOf(b.deployment.spec)
  );
}
