import {
  type Bundle,
  type BundleDeployment,
  type BundleFiles,
  type DeploymentContext,
  defaultLimits,
  errorMessage,
  type JsonObject,
  type KubernetesObject,
} from '../../../core/sdk.ts';
import plain from '../../../provisioners/plain/index.ts';
import registry from '../../../provisioners/registry/index.ts';
import { silentLogger } from '../../helpers/silent-logger.ts';

/** What happens to an operator's content until its objects are there to be applied. */
export const steps = ['bundle', 'configure', 'deployment'] as const;
export type Step = (typeof steps)[number];

/** A bundle in memory, and the config that it is deployed with. */
export interface RealOperator {
  readonly name: string;
  readonly files: BundleFiles;
  readonly config: JsonObject;
}

/** Calls what is to be timed. */
export type Timer = <T>(step: Step, call: () => Promise<T>) => Promise<T>;

/** As the manager has its classes called for a Bundle and for the BundleDeployment of it. */
export async function convertOperator(
  { files, config }: RealOperator,
  timed: Timer,
): Promise<readonly KubernetesObject[]> {
  const stored = await timed('bundle', async () => registry.bundle!(files, bundle, context));
  const deployment = { ...aDeployment, spec: { ...aDeployment.spec, config } };
  const configured = await timed(
    'configure',
    async () => (await registry.configure?.(stored, deployment, context)) ?? stored,
  );
  return await timed('deployment', async () => plain.deployment!(configured, deployment, context));
}

/** The operator with the first config that it can be deployed with, or why there is none. */
export async function configuredOperator(
  name: string,
  files: BundleFiles,
): Promise<RealOperator | string> {
  const refusals: string[] = [];
  for (const config of configs) {
    const operator = { name, files, config };
    try {
      await convertOperator(operator, (_step, call) => call());
      return operator;
    } catch (error) {
      refusals.push(errorMessage(error));
    }
  }
  return refusals.at(-1) ?? '';
}

/** One for each install mode. */
const configs: readonly JsonObject[] = [
  {},
  { installNamespace: 'operators', watchNamespace: 'operators' },
  { installNamespace: 'operators', watchNamespace: 'apps' },
  { installNamespace: 'operators', watchNamespaces: ['apps', 'shops'] },
];

/** Without facts of a cluster: what operators require of it would be missing. */
const context: DeploymentContext = {
  signal: new AbortController().signal,
  logger: silentLogger,
  limits: defaultLimits,
  inputs: [],
};

const source = { type: 'image', image: { ref: 'registry.example/operator:v1' } } as const;

const bundle: Bundle = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'Bundle',
  metadata: { name: 'operator', annotations: { 'core.rukpak.io/configured': 'true' } },
  spec: { provisionerClassName: registry.className, source },
};

const aDeployment: BundleDeployment = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'BundleDeployment',
  metadata: { name: 'operator', generation: 1 },
  spec: {
    provisionerClassName: plain.className,
    template: { spec: { provisionerClassName: registry.className, source } },
  },
};
