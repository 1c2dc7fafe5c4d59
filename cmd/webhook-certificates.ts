import type { Logger } from '../core/contracts/logger.ts';
import {
  createCertificateRotation,
  followCertificateFiles,
  type KeyPair,
  readCertificateFiles,
} from '../core/platform/certificates/index.ts';
import { systemClock } from '../core/platform/clock.ts';
import type { KubeClient, ObjectKey } from '../core/platform/kube/index.ts';
import { type CABundleInjectionOptions, createCABundleInjection } from '../webhooks/index.ts';

/** Where serving certificates come from. */
export interface WebhookCertificates {
  first(signal: AbortSignal): Promise<KeyPair>;
  /** Calls back with each later key pair. */
  follow(onChange: (pair: KeyPair) => void, signal: AbortSignal): Promise<void>;
}

interface OwnCertificateOptions {
  readonly client: KubeClient;
  readonly logger: Logger;
  /** Where they are kept. */
  readonly secret: ObjectKey & { readonly namespace: string };
  /** The Service in the Secret's namespace that they are for. */
  readonly serviceName: string;
  /** More names and addresses that they are for. */
  readonly hosts: readonly string[];
  /** The ValidatingWebhookConfigurations that name our CA. */
  readonly webhookConfigurations: readonly string[];
  /** The MutatingWebhookConfigurations that do (default: none). */
  readonly mutatingWebhookConfigurations?: readonly string[];
}

/** Those of a folder, as cert-manager and the kubelet keep them. */
export function mountedCertificates(folder: string, logger: Logger): WebhookCertificates {
  return {
    first: () => readCertificateFiles(folder),
    follow: (onChange, signal) =>
      followCertificateFiles({ folder, clock: systemClock, logger }, onChange, signal),
  };
}

/** Issued by ourselves, and made known to the API server. */
export function ownCertificates(options: OwnCertificateOptions): WebhookCertificates {
  const { client, logger, secret } = options;
  const shared = { client, clock: systemClock, logger };
  const hosts = servedHosts(options);
  const rotation = createCertificateRotation({ ...shared, secret, hosts });
  const injections = configurationsOf(options).map((configuration) =>
    createCABundleInjection({ ...shared, ...configuration }),
  );
  function trust(caBundle: string): void {
    for (const injection of injections) injection.setBundle(caBundle);
  }
  return {
    async first(signal) {
      const state = await rotation.ensure(signal);
      trust(state.caBundle);
      return state.serving;
    },
    async follow(onChange, signal) {
      const rotating = rotation.run(({ caBundle, serving }) => {
        trust(caBundle);
        onChange(serving);
      }, signal);
      await Promise.all([rotating, ...injections.map((injection) => injection.run(signal))]);
    },
  };
}

function configurationsOf({
  webhookConfigurations,
  mutatingWebhookConfigurations = [],
}: OwnCertificateOptions): readonly Pick<
  CABundleInjectionOptions,
  'kind' | 'webhookConfiguration'
>[] {
  return [
    ...webhookConfigurations.map(
      (name) => ({ kind: 'ValidatingWebhookConfiguration', webhookConfiguration: name }) as const,
    ),
    ...mutatingWebhookConfigurations.map(
      (name) => ({ kind: 'MutatingWebhookConfiguration', webhookConfiguration: name }) as const,
    ),
  ];
}

function servedHosts({ serviceName, secret, hosts }: OwnCertificateOptions): readonly string[] {
  const service = `${serviceName}.${secret.namespace}.svc`;
  return [service, `${service}.cluster.local`, 'localhost', '127.0.0.1', ...hosts];
}
