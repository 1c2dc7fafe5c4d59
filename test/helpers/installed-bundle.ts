import type { JsonObject } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { withoutLeftOut } from '../../core/manifests/index.ts';
import { type BundleFiles, type ClusterFacts, defaultLimits } from '../../core/sdk.ts';
import plain from '../../provisioners/plain/index.ts';
import registry from '../../provisioners/registry/index.ts';
import { aBundle, aBundleDeployment, anImage } from './objects.ts';
import { silentLogger } from './silent-logger.ts';

export interface InstalledBundleOptions {
  /** spec.config of the BundleDeployment. */
  readonly config?: JsonObject;
  readonly cluster: ClusterFacts;
}

/**
 * The objects of a registry bundle by the handlers that core calls, in core's order: what is stored,
 * what one deployment makes of it, and the objects in that.
 */
export async function installedBundle(
  files: BundleFiles,
  { config, cluster }: InstalledBundleOptions,
): Promise<readonly KubernetesObject[]> {
  const signal = new AbortController().signal;
  const context = { signal, logger: silentLogger, limits: defaultLimits };
  const stored = (await registry.bundle?.(files, bundleOf(config), context)) ?? files;
  const deployment = deploymentOf(config);
  const given = { ...context, inputs: [], cluster };
  const configured = (await registry.configure?.(stored, deployment, given)) ?? stored;
  return withoutLeftOut((await plain.deployment?.(configured, deployment, given)) ?? []).objects;
}

const className = 'core-rukpak-io-registry';
const source = anImage('registry.example.com/operator:v1');

function bundleOf(config: JsonObject | undefined): Bundle {
  const bundle = aBundle({ name: 'operator', className, source }) as Bundle;
  if (config === undefined) return bundle;
  const annotations = { [annotation.configured]: 'true' };
  return { ...bundle, metadata: { ...bundle.metadata, annotations } };
}

function deploymentOf(config: JsonObject | undefined): BundleDeployment {
  const deployment = aBundleDeployment({ name: 'operator', className, source }) as BundleDeployment;
  if (config === undefined) return deployment;
  return { ...deployment, spec: { ...deployment.spec, config } };
}
