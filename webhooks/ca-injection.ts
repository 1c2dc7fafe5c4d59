import { z } from 'zod';
import type { KubernetesObject } from '../api/meta.ts';
import type { Logger } from '../core/contracts/logger.ts';
import type { Clock } from '../core/platform/clock.ts';
import { hasCode, type KubeClient, type Resource } from '../core/platform/kube/index.ts';
import { ObjectController } from '../core/platform/runtime/index.ts';

export interface CABundleInjectionOptions {
  readonly client: Pick<KubeClient, 'patch' | 'list' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of the webhook configuration; the bundle is written into all its webhooks. */
  readonly webhookConfiguration: string;
  readonly kind: 'ValidatingWebhookConfiguration' | 'MutatingWebhookConfiguration';
}

export interface CABundleInjection {
  /** Sets the CAs that the API server must trust from now on; PEM. */
  setBundle(bundle: string): void;
  /**
   * Throws until the configuration, if there is one and cert-manager does not write it, has the
   * bundle: until then the API server refuses what the webhooks would admit.
   */
  checkInjected(): void;
  /**
   * Maintains the bundle in the configuration, even when others overwrite it, until the signal is
   * aborted.
   */
  run(signal: AbortSignal): Promise<void>;
}

function webhookConfigurationResource(kind: CABundleInjectionOptions['kind']): Resource {
  return {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: false,
  };
}

const webhooksSchema = z.array(
  z.object({ name: z.string(), clientConfig: z.object({ caBundle: z.string().optional() }) }),
);

// Milliseconds: the watch reports every change; this helps when a watch is silently broken. Costs
// no request.
const resync = 10 * 60_000;

export function createCABundleInjection(options: CABundleInjectionOptions): CABundleInjection {
  const { client, logger, webhookConfiguration, kind } = options;
  const resource = webhookConfigurationResource(kind);
  const key = { name: webhookConfiguration };
  let caBundle: string | undefined;
  // Stays: a later bundle still has the authority of the certificate that serves meanwhile.
  let isInjected = false;

  async function reconcile(
    configuration: KubernetesObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (caBundle === undefined) return;
    if (configuration !== undefined) await inject(caBundle, configuration, signal);
    isInjected = true;
  }

  async function inject(
    bundle: string,
    configuration: KubernetesObject,
    signal: AbortSignal,
  ): Promise<void> {
    if (isInjectedByCertManager(configuration)) {
      logger.warn({ webhookConfiguration }, 'cert-manager injects the CA bundle; leaving it alone');
      return;
    }
    const patch = injectionPatch(configuration, bundle);
    if (patch.length === 0) return;
    try {
      await client.patch({ resource, key }, patch, { type: 'json', signal });
    } catch (error) {
      // Deleted or reordered meanwhile: the watch will report its new state.
      if (hasCode(error, 404, 422)) return;
      throw error;
    }
    logger.info({ webhookConfiguration }, 'CA bundle was written to the webhook configuration');
  }

  const name = 'injection of the CA bundle';
  const controller = new ObjectController({
    ...options,
    name,
    resource,
    key,
    resync,
    reconcile,
  });
  return {
    setBundle: (bundle) => {
      caBundle = Buffer.from(bundle, 'utf8').toString('base64');
      controller.enqueue();
    },
    checkInjected() {
      if (isInjected) return;
      throw new Error(`the CA bundle is not in ${kind} ${webhookConfiguration} yet`);
    },
    run: (signal) => controller.run(signal),
  };
}

/** JSON patch that writes the bundle into every webhook; empty when all have it. */
function injectionPatch(configuration: KubernetesObject, caBundle: string): object[] {
  const webhooks = webhooksSchema.safeParse(configuration['webhooks'] ?? []);
  if (!webhooks.success) return [];
  return webhooks.data.flatMap(({ name, clientConfig }, index) =>
    clientConfig.caBundle === caBundle
      ? []
      : [
          { op: 'test', path: `/webhooks/${index}/name`, value: name },
          { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle },
        ],
  );
}

function isInjectedByCertManager({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.['cert-manager.io/inject-ca-from'] !== undefined;
}
