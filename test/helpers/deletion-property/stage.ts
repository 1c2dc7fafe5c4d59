import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { System } from '../system.ts';
import { deploymentCount, type Version, versions } from './content.ts';
import type { Model } from './model.ts';
import type { Site } from './site.ts';

export interface Stage {
  readonly site: Site;
  readonly system: System;
  readonly model: Model;
  readonly source: (index: number, version: Version) => BundleSource;
  /** Waits until core has done all that it was asked for. */
  readonly settle: () => Promise<void>;
}

/** An action of a user; returns its description, or undefined when it did not apply. */
export type Action = (stage: Stage, choice: Choice) => Promise<string | undefined>;

/** Draws of one step: another step's number of draws changes nothing. */
export class Choice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  of<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  deployment(): number {
    return this.below(deploymentCount);
  }

  version(): Version {
    return this.of(versions) ?? 1;
  }
}
