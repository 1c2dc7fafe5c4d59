import { systemClock } from '../core/clock.ts';
import type { Logger } from '../core/contracts/logger.ts';
import { connect } from '../core/kube/connect.ts';
import { Metrics } from '../core/observe/metrics.ts';
import { parseBindAddress } from '../core/runtime/bind-address.ts';
import { HealthServer } from '../core/runtime/health-server.ts';
import { Manager, type Runnable } from '../core/runtime/manager.ts';
import { followCertificateFiles, readCertificateFiles } from '../webhooks/certs/files.ts';
import { createCABundleInjection } from '../webhooks/certs/inject.ts';
import type { KeyPair } from '../webhooks/certs/key-pair.ts';
import { type CertificateRotation, createCertificateRotation } from '../webhooks/certs/rotation.ts';
import type { ObjectClient, ObjectFollower } from '../webhooks/cluster.ts';
import { admissionRoutes } from '../webhooks/routes.ts';
import { startWebhookServer, type WebhookServer } from '../webhooks/server.ts';
import type { IssuedCertificate } from './issue-certificate.ts';
import { createMetricsServer } from './metrics-server.ts';
import { createObjectFollower } from './object-follower.ts';
import { createWebhookCaches } from './webhook-caches.ts';

export interface WebhookOptions {
  readonly kubeconfig?: string | undefined;
  readonly systemNamespace: string;
  readonly bindAddress: string;
  /** Names and addresses that our own certificate is for, besides the Service and loopback. */
  readonly webhookHost: readonly string[];
  /** Folder of the serving certificate; one of our own where absent. */
  readonly certDir?: string | undefined;
  readonly healthProbeBindAddress: string;
  readonly metricsBindAddress: string;
  /** Certificates that are kept in Secrets for other processes. */
  readonly issueCertificate?: readonly IssuedCertificate[];
  readonly logger: Logger;
  /** Called when admission requests are answered. */
  readonly onReady?: () => void;
}

export const webhookConfigurationName = 'rukpak-validating-webhook-configuration';
const certificateSecretName = 'rukpak-webhook-serving-certificate';
const serviceName = 'rukpak-webhook-service';

/** Answers admission requests until the signal is aborted. */
export async function runWebhooks(options: WebhookOptions, signal: AbortSignal): Promise<void> {
  const { kubeconfig, systemNamespace, logger } = options;
  const clock = systemClock;
  const kube = connect({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    userAgent: 'rukpak-webhooks',
  });
  try {
    const { client } = kube;
    const caches = createWebhookCaches({ client, clock, logger, systemNamespace });
    const cluster: Cluster = { client, follower: createObjectFollower({ client, clock, logger }) };
    const certificates =
      options.certDir === undefined
        ? ownCertificates(options, cluster)
        : mountedCertificates(options.certDir, logger);
    const server = webhookServer(options, { certificates, routes: admissionRoutes(caches.routes) });
    const manager = new Manager(logger);
    manager.add(
      new HealthServer({
        bindAddress: options.healthProbeBindAddress,
        logger,
        readyChecks: { server: server.check },
      }),
    );
    manager.add(createMetricsServer(options.metricsBindAddress, new Metrics()));
    manager.add(...caches.reflectors, ...issuers(options, cluster));
    manager.add(server.runnable);
    manager.add(announcement(options));
    await manager.run(signal);
  } finally {
    await kube.close();
  }
}

interface Cluster {
  readonly client: ObjectClient;
  readonly follower: ObjectFollower;
}

function issuers(
  { issueCertificate = [], systemNamespace: namespace, logger }: WebhookOptions,
  cluster: Cluster,
): readonly Runnable[] {
  return issueCertificate.map(({ secretName: name, hosts }) => {
    const secret = { namespace, name };
    const rotation = createCertificateRotation({
      ...cluster,
      clock: systemClock,
      logger,
      secret,
      hosts,
    });
    return {
      name: `certificate ${name}`,
      // Whoever mounts the Secret sees the change by itself.
      run: (signal) => rotation.run(() => undefined, signal),
    };
  });
}

/** Where serving certificates come from. */
interface Certificates {
  first(signal: AbortSignal): Promise<KeyPair>;
  /** Calls back with each later key pair. */
  follow(onChange: (pair: KeyPair) => void, signal: AbortSignal): Promise<void>;
}

function mountedCertificates(folder: string, logger: Logger): Certificates {
  return {
    first: () => readCertificateFiles(folder),
    follow: (onChange, signal) =>
      followCertificateFiles({ folder, clock: systemClock, logger }, onChange, signal),
  };
}

/** Issued by ourselves, and made known to the API server. */
function ownCertificates(
  { systemNamespace, webhookHost, logger }: WebhookOptions,
  cluster: Cluster,
): Certificates {
  const shared = { ...cluster, clock: systemClock, logger };
  const rotation: CertificateRotation = createCertificateRotation({
    ...shared,
    secret: { namespace: systemNamespace, name: certificateSecretName },
    hosts: [
      `${serviceName}.${systemNamespace}.svc`,
      `${serviceName}.${systemNamespace}.svc.cluster.local`,
      'localhost',
      '127.0.0.1',
      ...webhookHost,
    ],
  });
  const injection = createCABundleInjection({
    ...shared,
    webhookConfiguration: webhookConfigurationName,
  });
  return {
    async first(signal) {
      const state = await rotation.ensure(signal);
      injection.setBundle(state.caBundle);
      return state.serving;
    },
    async follow(onChange, signal) {
      const onState: Parameters<CertificateRotation['run']>[0] = (state) => {
        injection.setBundle(state.caBundle);
        onChange(state.serving);
      };
      await Promise.all([rotation.run(onState, signal), injection.run(signal)]);
    },
  };
}

function webhookServer(
  { bindAddress, logger }: WebhookOptions,
  {
    certificates,
    routes,
  }: { certificates: Certificates; routes: ReturnType<typeof admissionRoutes> },
): { readonly runnable: Runnable; readonly check: () => void } {
  const listening = Promise.withResolvers<void>();
  listening.promise.catch(() => undefined);
  let server: WebhookServer | undefined;
  return {
    check() {
      if (server === undefined) throw new Error('the webhooks do not listen yet');
    },
    runnable: {
      name: 'webhook server',
      ready: () => listening.promise,
      async run(signal) {
        const address = parseBindAddress(bindAddress);
        if (address === undefined) throw new Error('--webhook-bind-address must name a port');
        const pair = await certificates.first(signal);
        server = await startWebhookServer({
          ...address,
          certificates: pair,
          routes,
          clock: systemClock,
          logger,
        });
        listening.resolve();
        await certificates.follow((next) => server?.useCertificates(next), signal);
        await server.close();
      },
    },
  };
}

function announcement({ onReady }: WebhookOptions): Runnable {
  return {
    name: 'announcement',
    async run() {
      onReady?.();
    },
  };
}
