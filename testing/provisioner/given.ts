import type { Bundle, BundleDeployment, BundleFiles, DeploymentContext } from '../../core/sdk.ts';

export type HandlerName = 'bundle' | 'inputs' | 'deployment';

/** What a handler is called with. */
export interface Given {
  readonly files: BundleFiles;
  readonly object: Bundle | BundleDeployment;
  readonly context: DeploymentContext;
}
