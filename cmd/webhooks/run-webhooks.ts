import { ruleProblem } from '../../core/apply/index.ts';
import type { Logger } from '../../core/contracts/logger.ts';
import { createCertificateRotation } from '../../core/platform/certificates/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { connect, type KubeClient } from '../../core/platform/kube/index.ts';
import type { Runnable } from '../../core/platform/runtime/index.ts';
import {
  type AdmissionValidator,
  admissionRoutes,
  type CrdRouteOptions,
  crdRoutes,
} from '../../webhooks/index.ts';
import { crdWebhookConfigurations, type IssuedCertificate } from '../flags/webhook-flags.ts';
import { serveWebhooks } from './serve-webhooks.ts';
import { type CachedRouteOptions, createWebhookCaches } from './webhook-caches.ts';
import {
  mountedCertificates,
  ownCertificates,
  type WebhookCertificates,
} from './webhook-certificates.ts';
import type { WebhookClientFlags } from './webhook-clients.ts';

interface WebhookOptions extends WebhookClientFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly systemNamespace: string;
  readonly bindAddress: string;
  /** Additional names and addresses of core's own certificate, besides the Service and loopback. */
  readonly webhookHost: readonly string[];
  /** Folder of the serving certificate (default: core's own certificate). */
  readonly certDir?: string | undefined;
  /** Refuses BundleDeployments without spec.serviceAccount. */
  readonly requireServiceAccount: boolean;
  readonly healthProbeBindAddress: string;
  readonly metricsBindAddress: string;
  /** Milliseconds (default: 0). */
  readonly shutdownDelayDuration?: number;
  /** Certificates that this process stores in Secrets for other processes. */
  readonly issueCertificate?: readonly IssuedCertificate[];
  /** Reviews CRDs too, for a single process on a laptop; otherwise a separate process does. */
  readonly crds?: Pick<CrdRouteOptions, 'guardDeletion' | 'defaultDeletionPolicy'>;
  readonly logger: Logger;
  /** Called when the server answers admission requests, with the check of `/readyz`. */
  readonly onListening?: (checkTrusted: () => void) => void;
}

const webhookConfigurationName = 'rukpak-validating-webhook-configuration';
const mutatingConfigurationName = 'rukpak-mutating-webhook-configuration';
const certificateSecretName = 'rukpak-webhook-serving-certificate';
const serviceName = 'rukpak-webhook-service';

/** Answers admission requests until the signal is aborted. */
export async function runWebhooks(options: WebhookOptions, signal: AbortSignal): Promise<void> {
  const { kubeconfig, context, systemNamespace, logger } = options;
  const clock = systemClock;
  const kube = connect({
    kubeconfig,
    context,
    userAgent: 'rukpak-webhooks',
  });
  try {
    const { client } = kube;
    const caches = createWebhookCaches({ client, clock, logger, systemNamespace });
    await serveWebhooks(
      {
        ...options,
        certificates: certificatesOf(options, client),
        routes: routesOf(options, client, caches.routes),
        readyChecks: { watches: caches.checkWatches },
        clock,
        runnables: [...caches.reflectors, ...issuers(options, client)],
      },
      signal,
    );
  } finally {
    await kube.close();
  }
}

function issuers(
  { issueCertificate = [], systemNamespace: namespace, logger }: WebhookOptions,
  client: KubeClient,
): readonly Runnable[] {
  return issueCertificate.map(({ secretName: name, hosts }) => {
    const secret = { namespace, name };
    const rotation = createCertificateRotation({
      client,
      clock: systemClock,
      logger,
      secret,
      hosts,
    });
    return {
      name: `certificate ${name}`,
      // Processes that mount the Secret see the change by themselves.
      run: (signal) => rotation.run(() => undefined, signal),
    };
  });
}

function routesOf(
  { crds, logger, requireServiceAccount }: WebhookOptions,
  client: KubeClient,
  cached: CachedRouteOptions,
): ReadonlyMap<string, AdmissionValidator> {
  const routes = admissionRoutes({ ...cached, client, requireServiceAccount, ruleProblem });
  if (crds === undefined) return routes;
  return new Map([...routes, ...crdRoutes({ ...crds, client, clock: systemClock, logger })]);
}

function certificatesOf(
  { certDir, systemNamespace: namespace, webhookHost, crds, logger }: WebhookOptions,
  client: KubeClient,
): WebhookCertificates {
  if (certDir !== undefined) return mountedCertificates(certDir, logger);
  return ownCertificates({
    client,
    logger,
    secret: { namespace, name: certificateSecretName },
    serviceName,
    hosts: webhookHost,
    webhookConfigurations: [
      webhookConfigurationName,
      ...(crds === undefined ? [] : crdWebhookConfigurations(crds.guardDeletion)),
    ],
    mutatingWebhookConfigurations: [mutatingConfigurationName],
  });
}
