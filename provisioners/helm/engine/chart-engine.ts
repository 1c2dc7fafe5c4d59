/**
 * Helm's own engine. It works synchronously and blocks its process: callers run in a worker process,
 * and the host of that process bounds the time.
 */
export interface ChartEngine {
  /**
   * Reads a chart and checks what can be checked without values: Chart.yaml, values.yaml, subcharts
   * that are declared and not there, and that it is a chart that can be installed.
   * @throws TerminalError with Helm's own text.
   */
  inspect(files: ChartFiles): Chart;
  /**
   * What `helm template` makes of the chart.
   * @throws TerminalError with Helm's own text; also where a `lookup` was refused, or where the chart
   * needs more memory than the engine is given.
   */
  render(request: RenderRequest): RenderedChart;
}

/**
 * A chart's content by path: `Chart.yaml` lies at the root. Files that .helmignore names are left
 * out by the engine; archives of subcharts (`charts/*.tgz`) are opened by it.
 */
export type ChartFiles = ReadonlyMap<string, Uint8Array>;

/** What Chart.yaml says, as far as a provisioner needs it. */
export interface Chart {
  readonly name: string;
  readonly version: string;
  readonly appVersion?: string;
  readonly description?: string;
  /** Versions of Kubernetes that it is for; `render` holds the cluster's to it. */
  readonly kubeVersion?: string;
  readonly deprecated: boolean;
  readonly dependencies: readonly ChartDependency[];
}

interface ChartDependency {
  readonly name: string;
  /** As written: a range, often. */
  readonly version: string;
  readonly repository?: string;
  readonly alias?: string;
}

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

/** A rendered chart, in Helm's order of installation. */
export interface RenderedChart {
  /** Files of crds/, those of subcharts included; applied before the rest. */
  readonly crds: readonly RenderedFile[];
  /** One document each. */
  readonly manifests: readonly RenderedFile[];
  readonly hooks: readonly RenderedHook[];
  /** The text of the chart's NOTES.txt; empty where it has none. */
  readonly notes: string;
  /** What Helm would say besides, on its standard error. */
  readonly warnings: readonly string[];
}

export interface RenderedFile {
  /** Of the template, such as `web/templates/service.yaml`. */
  readonly path: string;
  /** YAML, without a `---` before it. */
  readonly text: string;
}

/** A manifest that Helm runs at a point of the release's life instead of installing it. */
export interface RenderedHook extends RenderedFile {
  readonly kind: string;
  readonly name: string;
  readonly events: readonly HookEvent[];
  readonly weight: number;
  readonly deletePolicies: readonly HookDeletePolicy[];
}

export type HookEvent =
  | 'pre-install'
  | 'post-install'
  | 'pre-delete'
  | 'post-delete'
  | 'pre-upgrade'
  | 'post-upgrade'
  | 'pre-rollback'
  | 'post-rollback'
  | 'test';

export type HookDeletePolicy = 'before-hook-creation' | 'hook-succeeded' | 'hook-failed';
