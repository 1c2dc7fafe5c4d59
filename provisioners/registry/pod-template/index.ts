import { overrideSteps } from '../overrides/index.ts';
import { certificateMounts } from './certificate-mounts.ts';
import type { DeploymentStep } from './deployment-step.ts';
import { proxy } from './proxy.ts';
import { targetNamespaces } from './target-namespaces.ts';

/** What operators are given at run time, in OLM's order: later steps see what earlier ones added. */
export const deploymentSteps: readonly DeploymentStep[] = [
  targetNamespaces,
  certificateMounts,
  ...overrideSteps,
  proxy,
];
