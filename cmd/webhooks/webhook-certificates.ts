import type { Logger } from '../../core/contracts/logger.ts';
import {
  createCertificateRotation,
  followCertificateFiles,
  type KeyPair,
  readCertificateFiles,
} from '../../core/platform/certificates/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import type { KubeClient, ObjectKey } from '../../core/platform/kube/index.ts';
import { type CABundleInjectionOptions, createCABundleInjection } from '../../webhooks/index.ts';

/** A source of serving certificates. */
export interface WebhookCertificates {
  first(signal: AbortSignal): Promise<KeyPair>;
  /** Calls back with each later key pair. */
  follow(onChange: (pair: KeyPair) => void, signal: AbortSignal): Promise<void>;
  /** Throws until the API server has been told to trust them, where that is this process's part. */
  readonly checkTrusted: () => void;
}

interface OwnCertificateOptions {
  readonly client: KubeClient;
  readonly logger: Logger;
  /** The Secret that stores them. */
  readonly secret: ObjectKey & { readonly namespace: string };
  /** The Service, in the Secret's namespace, that they are valid for. */
  readonly serviceName: string;
  /** Additional names and addresses that they are valid for. */
  readonly hosts: readonly string[];
  /** ValidatingWebhookConfigurations to write the CA into. */
  readonly webhookConfigurations: readonly string[];
  /** MutatingWebhookConfigurations to write the CA into (default: none). */
  readonly mutatingWebhookConfigurations?: readonly string[];
}

/** Certificates in a folder, as mounted from a Secret by the kubelet. */
export function mountedCertificates(folder: string, logger: Logger): WebhookCertificates {
  return {
    first: () => readCertificateFiles(folder),
    follow: (onChange, signal) =>
      followCertificateFiles({ folder, clock: systemClock, logger }, onChange, signal),
    checkTrusted: () => undefined,
  };
}

/**
 * Certificates that the process issues itself, and whose CA it writes into the webhook
 * configurations.
 */
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
    checkTrusted() {
      for (const injection of injections) injection.checkInjected();
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
