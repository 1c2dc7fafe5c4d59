import type { Logger } from '../../core/contracts/logger.ts';
import { type ServedClasses, withServedClasses } from '../classes/served-classes.ts';
import type { CoreFlags } from '../flags/core-flags.ts';
import { systemNamespaceOf } from '../flags/process-flags.ts';
import type { CrdGuardFlags, WebhookServerFlags } from '../flags/webhook-flags.ts';
import { runWebhooks } from '../webhooks/run-webhooks.ts';
import { withClusterFolders } from './cluster-folders.ts';
import { withLocalContentServer } from './local-content-server.ts';
import { type LocalOperatorsFlags, runOperatorsOnceServed } from './operators-once-served.ts';
import { runClasses } from './run-core.ts';

type AllFlags = CoreFlags & WebhookServerFlags & CrdGuardFlags & LocalOperatorsFlags;

/**
 * Runs core, webhooks and operators in one process; ready when core and webhooks are. The end of one
 * ends all.
 */
export async function runAll(flags: AllFlags, logger: Logger, signal: AbortSignal): Promise<void> {
  // Report invalid flags before anything listens.
  await withServedClasses(flags, logger, async (classes) => {
    const placed = await withClusterFolders(flags, logger, signal);
    if (placed === undefined) return;
    await withLocalContentServer(placed, (local) =>
      runTogether(local, { logger, classes }, signal),
    );
  });
}

async function runTogether(
  flags: AllFlags,
  { logger, classes }: { readonly logger: Logger; readonly classes: ServedClasses },
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const failure = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal, failure.signal]);
  // Never rejects: nobody waits for a part that fails while another one starts.
  const untilEnd = async (part: Promise<void>): Promise<void> => {
    await part.catch((error: unknown) => failure.abort(error));
    ended.abort(new Error('one of core, webhooks and operators has ended'));
  };
  const listening = Promise.withResolvers<() => void>();
  const webhooks = untilEnd(
    runWebhooks(
      {
        kubeconfig: flags.kubeconfig,
        context: flags.context,
        systemNamespace: systemNamespaceOf(flags),
        bindAddress: flags.webhookBindAddress,
        webhookHost: flags.webhookHost,
        certDir: flags.certDir,
        requireServiceAccount: flags.requireServiceAccount,
        crds: {
          guardDeletion: flags.guardCrdDeletion,
          defaultDeletionPolicy: flags.defaultDeletionPolicy,
        },
        healthProbeBindAddress: '0',
        metricsBindAddress: '0',
        logger,
        onListening: listening.resolve,
      },
      stop,
    ),
  );
  const operators = untilEnd(runOperatorsOnceServed(flags, logger, stop));
  // The API server refuses Bundles until the webhooks answer.
  const checkTrusted = await Promise.race([listening.promise, webhooks]);
  if (!stop.aborted && checkTrusted !== undefined) {
    const readyChecks = { webhooks: checkTrusted };
    await untilEnd(runClasses(flags, { logger, classes, readyChecks }, stop));
  }
  await Promise.all([webhooks, operators]);
  failure.signal.throwIfAborted();
}
