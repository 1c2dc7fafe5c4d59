import type { DeploymentOverrides } from '../overrides/deployment-overrides.ts';

/** spec.config of a BundleDeployment whose Bundle is of the class. */
export interface RegistryConfig {
  /** Where the operator itself goes: it has to exist. The bundle's own where absent. */
  readonly installNamespace?: string;
  /** `watchNamespace` alone or `watchNamespaces`; absent where neither is given. */
  readonly watchNamespaces?: readonly string[];
  readonly overrides: DeploymentOverrides;
}
