import type { ChartFiles } from './chart-files.ts';

/** Everything that a rendering depends on. */
export interface RenderRequest {
  readonly files: ChartFiles;
  /** Over the chart's own values, in order; later ones win, as with `helm -f`. */
  readonly values: readonly ValuesDocument[];
  readonly release: ChartRelease;
  /** Of the cluster, such as `v1.36.3`. */
  readonly kubeVersion: string;
  /** `v1`, `apps/v1`, `apps/v1/Deployment`: what `.Capabilities.APIVersions.Has` is asked for. */
  readonly apiVersions: readonly string[];
  /**
   * What random functions (`randAlphaNum`, `genCA` …) draw from, with the release and the chart's
   * name. Where absent they differ at every call, as with Helm.
   */
  readonly seed?: Uint8Array;
  /**
   * What templates take for the time: `now`, and the dates in certificates. The real one where
   * absent, as with Helm; with a seed and a time the same request renders the same bytes.
   */
  readonly now?: Date;
  /**
   * What a template that calls `lookup` gets: an error (default) that names `lookup: Empty` of the
   * configuration, or Helm's answer without a cluster.
   */
  readonly lookup?: 'refuse' | 'empty';
}

export interface ValuesDocument {
  /** For messages: `failed to parse <name>: …`. */
  readonly name: string;
  /** YAML. */
  readonly text: string;
}

/** What templates see as `.Release`; always an install, of revision 1. */
export interface ChartRelease {
  readonly name: string;
  readonly namespace: string;
}
