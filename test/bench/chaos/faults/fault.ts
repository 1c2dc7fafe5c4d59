import type { World } from '../world/world.ts';

/** Something that goes wrong. */
export interface Fault {
  /** In kebab-case: the argument of `--only`, and a row of the report. */
  readonly name: string;
  /** Why it cannot be tried here; undefined where it can. */
  unavailable?(world: World): string | undefined;
  /** Breaks it, and resolves when that is over, as far as it is not core's to mend. */
  strike(world: World, random: () => number): Promise<void>;
}

/** A number of milliseconds between two. */
export function between(random: () => number, least: number, most: number): number {
  return Math.round(least + random() * (most - least));
}
