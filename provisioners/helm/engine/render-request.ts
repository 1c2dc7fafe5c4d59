import type { ChartFiles } from './chart-files.ts';

/** Everything that a rendering depends on: the same request renders the same bytes. */
export interface RenderRequest {
  readonly files: ChartFiles;
  /** YAML documents over the chart's own values, in order; later ones win, as with `helm -f`. */
  readonly values: readonly string[];
  readonly release: ChartRelease;
  /** Of the cluster, such as `v1.36.3`. */
  readonly kubeVersion: string;
  /** `v1`, `apps/v1`, `apps/v1/Deployment`: what `.Capabilities.APIVersions.Has` is asked for. */
  readonly apiVersions: readonly string[];
  /**
   * What random functions (`randAlphaNum`, `genCA` …) draw from. Where absent they differ at every
   * call, as with Helm.
   */
  readonly seed?: Uint8Array;
  /** What a template that calls `lookup` gets: an error (default), or Helm's answer without a cluster. */
  readonly lookup?: 'refuse' | 'empty';
}

/** What templates see as `.Release`; always an install, of revision 1. */
export interface ChartRelease {
  readonly name: string;
  readonly namespace: string;
}
