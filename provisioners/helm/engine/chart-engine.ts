/**
 * Helm's own engine. It works synchronously and blocks its process: call it in a worker process,
 * whose host limits the time.
 */
export interface ChartEngine {
  /**
   * Reads a chart and checks everything that needs no values: Chart.yaml, values.yaml, missing
   * declared subcharts, and whether the chart can be installed.
   * @throws TerminalError with Helm's own text.
   */
  inspect(files: ChartFiles): Chart;
  /**
   * The result of `helm template` for the chart.
   * @throws TerminalError with Helm's own text; also for a refused `lookup`, and when the chart
   * needs more memory than the engine has.
   */
  render(request: RenderRequest): RenderedChart;
}

/**
 * A chart's content by path, with `Chart.yaml` at the root. The engine skips files in .helmignore,
 * and opens archives of subcharts (`charts/*.tgz`).
 */
export type ChartFiles = ReadonlyMap<string, Uint8Array>;

/** The fields of Chart.yaml that a provisioner needs. */
export interface Chart {
  readonly name: string;
  readonly version: string;
  readonly appVersion?: string;
  readonly description?: string;
  /** Supported versions of Kubernetes; `render` compares the cluster's version. */
  readonly kubeVersion?: string;
  readonly deprecated: boolean;
  readonly dependencies: readonly ChartDependency[];
}

interface ChartDependency {
  readonly name: string;
  /** As written, often a range. */
  readonly version: string;
  readonly repository?: string;
  readonly alias?: string;
}

/** All inputs of a rendering. */
export interface RenderRequest {
  readonly files: ChartFiles;
  /** Override the chart's own values, in order; later ones win, as with `helm -f`. */
  readonly values: readonly ValuesDocument[];
  readonly release: ChartRelease;
  /** Of the cluster, such as `v1.36.3`. */
  readonly kubeVersion: string;
  /** `v1`, `apps/v1`, `apps/v1/Deployment`: the arguments of `.Capabilities.APIVersions.Has`. */
  readonly apiVersions: readonly string[];
  /**
   * Source of random functions (`randAlphaNum`, `genCA` …), together with the release and the
   * chart's name. Without it they differ at every call, as in Helm.
   */
  readonly seed?: Uint8Array;
  /**
   * The time for templates: `now`, and the dates in certificates (default: the real time, as in
   * Helm). With a seed and a time, equal requests render equal bytes.
   */
  readonly now?: Date;
  /**
   * The result of `lookup` in a template: an error that names `lookup: Empty` of the config
   * (default), or Helm's answer without a cluster.
   */
  readonly lookup?: 'refuse' | 'empty';
}

export interface ValuesDocument {
  /** For messages: `failed to parse <name>: …`. */
  readonly name: string;
  /** YAML. */
  readonly text: string;
}

/** `.Release` for templates; always an install, of revision 1. */
export interface ChartRelease {
  readonly name: string;
  readonly namespace: string;
}

/** A rendered chart, in Helm's order of installation. */
export interface RenderedChart {
  /** Files of crds/, including those of subcharts; applied before the rest. */
  readonly crds: readonly RenderedFile[];
  /** One document each. */
  readonly manifests: readonly RenderedFile[];
  readonly hooks: readonly RenderedHook[];
  /** The text of the chart's NOTES.txt; empty without one. */
  readonly notes: string;
  /** Warnings that Helm would print on its standard error. */
  readonly warnings: readonly string[];
}

export interface RenderedFile {
  /** Path of the template, such as `web/templates/service.yaml`. */
  readonly path: string;
  /** YAML, without a `---` before it. */
  readonly text: string;
}

/** A manifest that Helm runs at an event of the release instead of installing it. */
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
