import type { Bundle, BundleDeployment, BundleFiles, DeploymentContext } from '../../core/sdk.ts';

export type HandlerName = 'bundle' | 'configure' | 'inputs' | 'deployment';

/** Whether a handler gives content; the others give lists. */
export function givesContent(handler: HandlerName): boolean {
  return handler === 'bundle' || handler === 'configure';
}

/** What a handler is called with. */
export interface Given {
  readonly files: BundleFiles;
  readonly object: Bundle | BundleDeployment;
  readonly context: DeploymentContext;
}
