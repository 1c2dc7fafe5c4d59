import type { Logger } from '../core/contracts/logger.ts';
import type { CoreFlags } from './core-flags.ts';
import type { CrdGuardFlags } from './crdvalidator-flags.ts';
import { systemNamespaceOf } from './process-flags.ts';
import { runCore } from './run-core.ts';
import { runWebhooks } from './run-webhooks.ts';
import type { AdmissionFlags, WebhookServerFlags } from './webhook-flags.ts';

/** Core and webhooks in one process; ready when both are. What ends one ends the other. */
export async function runAll(
  flags: CoreFlags & WebhookServerFlags & AdmissionFlags & CrdGuardFlags,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const failure = new AbortController();
  const stop = AbortSignal.any([signal, failure.signal]);
  const listening = Promise.withResolvers<void>();
  const webhooks = runWebhooks(
    {
      kubeconfig: flags.kubeconfig,
      systemNamespace: systemNamespaceOf(flags),
      bindAddress: flags.webhookBindAddress,
      webhookHost: flags.webhookHost,
      certDir: flags.certDir,
      requireServiceAccount: flags.requireServiceAccount,
      crds: { guardDeletion: flags.guardCrdDeletion },
      healthProbeBindAddress: '0',
      metricsBindAddress: '0',
      logger,
      onReady: listening.resolve,
    },
    stop,
  ).finally(() => failure.abort(new Error('the webhooks have ended')));
  try {
    // The API server refuses Bundles while nobody answers its webhooks.
    await Promise.race([listening.promise, webhooks]);
    if (!stop.aborted) await runCore(flags, logger, stop);
  } finally {
    failure.abort(new Error('core has ended'));
    await webhooks;
  }
}
