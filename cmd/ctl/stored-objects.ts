import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import {
  type BundleFiles,
  type ClusterFacts,
  defaultLimits,
  type KubernetesObject,
} from '../../core/sdk.ts';
import registry from '../../provisioners/registry/index.ts';
import { plainClass } from './plain-class.ts';
import { renderBundle } from './render-bundle.ts';
import { warningLogger } from './warning-logger.ts';

interface StoredContent {
  /** As the content server has it. */
  readonly files: BundleFiles;
  readonly deployment: BundleDeployment;
  readonly cluster: ClusterFacts;
  readonly signal: AbortSignal;
}

/**
 * What core makes of stored content: content of a registry bundle is adapted to spec.config first.
 * @throws TerminalError with the message that the condition has.
 */
export async function storedObjects({
  files,
  deployment,
  cluster,
  signal,
}: StoredContent): Promise<readonly KubernetesObject[]> {
  const { provisionerClassName: className } = deployment.spec.template.spec;
  const context = { cluster, inputs: [], limits: defaultLimits, logger: warningLogger, signal };
  const adapted =
    className === registry.className
      ? await registry.configure?.(files, deployment, context)
      : undefined;
  return renderBundle(adapted ?? files, { className: plainClass });
}
