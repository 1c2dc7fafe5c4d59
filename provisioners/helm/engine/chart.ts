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

export interface ChartDependency {
  readonly name: string;
  /** As written: a range, often. */
  readonly version: string;
  readonly repository?: string;
  readonly alias?: string;
}
