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
