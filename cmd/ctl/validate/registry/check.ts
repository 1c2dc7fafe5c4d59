import type { Finding } from '../finding.ts';
import type { BundleContent } from './bundle-content.ts';

/** What a person may set for checks. */
export interface CheckOptions {
  /** Version of Kubernetes to judge removed APIs for; minKubeVersion counts where absent. */
  readonly kubeVersion?: string;
}

/** A validator of bundles as tools for catalogs have it. Pure. */
export interface Check {
  /** As operator-sdk calls it, where it has it. */
  readonly name: string;
  readonly summary: string;
  /** Made only where it is asked for. */
  readonly optional: boolean;
  /** What it calls an error, the API server refuses. */
  readonly blocking?: boolean;
  readonly find: (bundle: BundleContent, options: CheckOptions) => readonly Finding[];
}
