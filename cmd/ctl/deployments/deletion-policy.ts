import { fieldAt, listOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  type DeletionPolicy,
  deletionPolicySchema,
} from '../../../api/v1alpha1/deployment-policies.ts';
import {
  deploymentResource,
  isForbidden,
  type KubeClient,
  liveObject,
} from '../../../core/platform/kube/index.ts';

/** The policy by which core would delete and prune the objects of a deployment. */
export interface ForeseenPolicy {
  readonly policy: DeletionPolicy;
  /** False when it is only core's usual default, because the flags of core cannot be read. */
  readonly isCertain: boolean;
}

interface PolicyRequest {
  readonly owner: BundleDeployment;
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

const flag = '--default-deletion-policy';

/** Deployments that may apply: one in the overlay split, and one in all others. */
const names = ['core', 'core-apply'] as const;

/** The policy in the spec of a deployment, otherwise that of the flag with which core runs. */
export async function foreseenPolicy(
  client: Pick<KubeClient, 'get'>,
  { owner, systemNamespace, signal }: PolicyRequest,
): Promise<ForeseenPolicy> {
  const { deletionPolicy, provisionerClassName } = owner.spec;
  if (deletionPolicy !== undefined) return { policy: deletionPolicy, isCertain: true };
  // Another class may have a manager with other flags.
  const isOfCore = provisionerClassName.startsWith('core-rukpak-io-');
  const found = isOfCore ? await defaultOfCore(client, systemNamespace, signal) : undefined;
  return { policy: found ?? 'Delete', isCertain: found !== undefined };
}

/**
 * Undefined when core does not run in the cluster, when the user may not see how, and when two
 * disagree.
 */
async function defaultOfCore(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
  signal: AbortSignal,
): Promise<DeletionPolicy | undefined> {
  const found = new Set<DeletionPolicy | undefined>();
  try {
    for (const name of names) {
      const target = { resource: deploymentResource, key: { namespace, name } };
      const live = await liveObject(client, target, signal);
      const args = live && argsOf(live, name);
      if (args !== undefined) found.add(policyIn(args));
    }
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return undefined;
  }
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

/** Of the container that applies; undefined without one, as in the unpacking half of core. */
function argsOf({ spec }: KubernetesObject, name: string): readonly string[] | undefined {
  const containers = listOf(fieldAt(spec, 'template', 'spec', 'containers'));
  const container = containers.find((each) => fieldAt(each, 'name') === name);
  const args = listOf(fieldAt(container, 'args')).map(String);
  return args[0] === 'core' || args[0] === 'apply' ? args : undefined;
}

/** The last value counts, as for core itself. */
function policyIn(args: readonly string[]): DeletionPolicy | undefined {
  const at = args.findLastIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  if (at === -1) return 'Delete';
  const value = args[at] === flag ? args[at + 1] : args[at]?.slice(flag.length + 1);
  return deletionPolicySchema.safeParse(value).data;
}
