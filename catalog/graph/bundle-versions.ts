import { TerminalError } from '../../core/errors.ts';
import { type Version, zeroVersion } from '../versions/index.ts';
import type { GraphBundle } from './upgrade-graph.ts';

/** Versions by the names of bundles, as opm has them in drawings: of two packages the first counts. */
export class BundleVersions {
  readonly #versions = new Map<string, Version>();

  /** @throws TerminalError for the first bundle that has no version */
  constructor(bundles: readonly GraphBundle[]) {
    for (const { name, version } of bundles) {
      if (this.#versions.has(name)) continue;
      if (version instanceof TerminalError) throw version;
      this.#versions.set(name, version);
    }
  }

  has(name: string): boolean {
    return this.#versions.has(name);
  }

  /** 0.0.0 of what is no bundle. */
  of(name: string): Version {
    return this.#versions.get(name) ?? zeroVersion;
  }
}
