import type { World } from '../world/world.ts';

/** A fault to inject. */
export interface Fault {
  /** In kebab-case: the argument of `--only`, and a row of the report. */
  readonly name: string;
  /** Why it cannot be injected here; undefined when it can. */
  unavailable?(world: World): string | undefined;
  /** Injects it, and resolves after its end; core must repair the rest. */
  strike(world: World, random: () => number): Promise<void>;
}

/** Random number of milliseconds between two bounds. */
export function between(random: () => number, least: number, most: number): number {
  return Math.round(least + random() * (most - least));
}
