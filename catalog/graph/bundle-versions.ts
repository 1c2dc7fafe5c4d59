import { TerminalError } from '../../core/errors.ts';
import { type Version, zeroVersion } from '../../resolver/versions/index.ts';
import type { GraphBundle } from './upgrade-graph.ts';

/**
 * Versions by bundle name, as opm uses them in drawings: if two packages share a name, the first
 * counts.
 */
export class BundleVersions {
  readonly #versions = new Map<string, Version>();

  /** @throws TerminalError for the first bundle without a valid version */
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

  /** The bundle's version; 0.0.0 for an unknown name. */
  of(name: string): Version {
    return this.#versions.get(name) ?? zeroVersion;
  }
}
