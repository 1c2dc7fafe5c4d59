import type { Logger } from '../../core/contracts/logger.ts';
import type { KeyPair } from '../../core/platform/certificates/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
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
  readonly certificates: WebhookCertificates;
  readonly routes: ReadonlyMap<string, AdmissionValidator>;
  /** Runs besides the server; the server answers requests once they are ready. */
  readonly runnables: readonly Runnable[];
  readonly logger: Logger;
  /** Called when the server answers admission requests, with the check of `/readyz`. */
  readonly onListening?: ((checkTrusted: () => void) => void) | undefined;
}

/** Answers admission requests at the routes until the signal is aborted. */
export async function serveWebhooks(
  options: ServeWebhooksOptions,
  signal: AbortSignal,
): Promise<void> {
  const { healthProbeBindAddress, metricsBindAddress, runnables, logger, onListening } = options;
  const { certificates } = options;
  const exposition = new Exposition();
  const server = webhookServer(options, exposition);
  const manager = new Manager(logger);
  manager.add(
    new HealthServer({
      bindAddress: healthProbeBindAddress,
      logger,
      readyChecks: { server: server.check, certificates: certificates.checkTrusted },
    }),
  );
  manager.add(metricsServer(metricsBindAddress, exposition));
  manager.add(...runnables);
  manager.add(server.runnable);
  manager.add({
    name: 'announcement',
    run: async () => onListening?.(certificates.checkTrusted),
  });
  await manager.run(signal);
}

function webhookServer(
  { bindAddress, logger, certificates, routes, ...clientFlags }: ServeWebhooksOptions,
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
        serving = await certificates.first(signal);
        server = await startWebhookServer({
          ...address,
          certificates: serving,
          ...(clients && { clients: clients.trusted }),
          routes,
          observer,
          clock: systemClock,
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
