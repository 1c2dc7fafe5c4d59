import type { Logger } from '../../core/contracts/logger.ts';
import type { KeyPair } from '../../core/platform/certificates/index.ts';
import { aborted, type Clock } from '../../core/platform/clock.ts';
import {
  CertificateMetrics,
  Exposition,
  WebhookMetrics,
} from '../../core/platform/observe/index.ts';
import {
  HealthServer,
  Manager,
  parseBindAddress,
  type Runnable,
} from '../../core/platform/runtime/index.ts';
import {
  type AdmissionValidator,
  startWebhookServer,
  type WebhookServer,
} from '../../webhooks/index.ts';
import { metricsServer } from '../processes/metrics-server.ts';
import type { WebhookCertificates } from './webhook-certificates.ts';
import { openWebhookClients, type WebhookClientFlags } from './webhook-clients.ts';

interface ServeWebhooksOptions extends WebhookClientFlags {
  readonly bindAddress: string;
  readonly healthProbeBindAddress: string;
  readonly metricsBindAddress: string;
  /**
   * Milliseconds for which the server answers after the signal (default: 0), while `/readyz` fails:
   * so long a Service goes on to send reviews.
   */
  readonly shutdownDelayDuration?: number;
  readonly certificates: WebhookCertificates;
  readonly routes: ReadonlyMap<string, AdmissionValidator>;
  /** Runs besides the server; the server answers requests once they are ready. */
  readonly runnables: readonly Runnable[];
  /** Of `/readyz`, besides those of the server and its certificates. */
  readonly readyChecks?: Readonly<Record<string, () => void>>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the server answers admission requests, with the check of `/readyz`. */
  readonly onListening?: ((checkTrusted: () => void) => void) | undefined;
}

/** Answers admission requests at the routes until the signal is aborted and the delay is over. */
export async function serveWebhooks(
  options: ServeWebhooksOptions,
  signal: AbortSignal,
): Promise<void> {
  const { healthProbeBindAddress, metricsBindAddress, runnables, logger, onListening } = options;
  const { certificates, readyChecks } = options;
  const exposition = new Exposition();
  const server = webhookServer({ ...options, stopping: signal }, exposition);
  const manager = new Manager(logger);
  manager.add(
    new HealthServer({
      bindAddress: healthProbeBindAddress,
      logger,
      readyChecks: {
        ...readyChecks,
        server: server.check,
        certificates: certificates.checkTrusted,
        shutdown: () => {
          if (signal.aborted) throw new Error('the process stops');
        },
      },
    }),
  );
  manager.add(metricsServer({ bindAddress: metricsBindAddress, metrics: exposition, logger }));
  manager.add(...runnables);
  manager.add(server.runnable);
  manager.add({
    name: 'announcement',
    run: async () => onListening?.(certificates.checkTrusted),
  });
  await manager.run(afterDelay(signal, options));
}

/** Aborted when the signal has been so for the delay. */
function afterDelay(
  signal: AbortSignal,
  { shutdownDelayDuration = 0, clock }: ServeWebhooksOptions,
): AbortSignal {
  if (shutdownDelayDuration === 0) return signal;
  const stop = new AbortController();
  void aborted(signal)
    .then(() => clock.sleep(shutdownDelayDuration))
    .then(() => stop.abort(signal.reason));
  return stop.signal;
}

/** Undefined when the signal is aborted before there is one. */
async function firstCertificate(
  certificates: WebhookCertificates,
  signal: AbortSignal,
): Promise<KeyPair | undefined> {
  try {
    return await certificates.first(signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

function webhookServer(
  {
    bindAddress,
    clock,
    logger,
    certificates,
    routes,
    stopping,
    ...clientFlags
  }: ServeWebhooksOptions & { readonly stopping: AbortSignal },
  { registry }: Exposition,
): { readonly runnable: Runnable; readonly check: () => void } {
  let serving: KeyPair | undefined;
  new CertificateMetrics(registry).watch('webhook', () => serving?.certificate);
  const observer = new WebhookMetrics(registry);
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
        const clients = await openWebhookClients(clientFlags, logger);
        serving = await firstCertificate(certificates, signal);
        if (serving === undefined) return;
        server = await startWebhookServer({
          ...address,
          certificates: serving,
          ...(clients && { clients: clients.trusted }),
          routes,
          stopping,
          observer,
          clock,
          logger,
        });
        listening.resolve();
        const renew = (next: KeyPair): void => {
          serving = next;
          server?.useCertificates(next);
        };
        await Promise.all([certificates.follow(renew, signal), clients?.follow(signal)]);
        await server.close();
      },
    },
  };
}
