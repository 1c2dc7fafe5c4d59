import type { Logger } from '../../core/contracts/logger.ts';
import { aborted, systemClock } from '../../core/platform/clock.ts';
import { connect } from '../../core/platform/kube/index.ts';
import { parseBindAddress } from '../../core/platform/runtime/index.ts';
import { operatorKinds, ServedKinds } from '../../operators/served-kinds.ts';
import type { OperatorsFlags } from '../flags/operators-flags.ts';

/** Flags of `rukpak all` that matter for operators. */
export type LocalOperatorsFlags = Omit<
  OperatorsFlags,
  'metricsBindAddress' | 'httpExternalAddress' | 'tlsCert' | 'tlsKey'
>;

/**
 * Runs operators beside core as soon as the API server serves their kinds. Most clusters do not:
 * there, nothing is loaded and nothing listens.
 */
export async function runOperatorsOnceServed(
  flags: LocalOperatorsFlags,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  await untilServed(flags, logger, signal);
  if (signal.aborted) return;
  const { runOperators } = await import('./run-operators.ts');
  await runOperators(
    {
      ...flags,
      httpExternalAddress: `http://${clientAddress(flags.catalogsServerAddr)}`,
      healthProbeBindAddress: '0',
      metricsBindAddress: '0',
    },
    logger,
    signal,
  );
}

async function untilServed(
  { kubeconfig, context }: Pick<LocalOperatorsFlags, 'kubeconfig' | 'context'>,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { client, close } = connect({
    kubeconfig,
    context,
    userAgent: 'rukpak-operators',
    logger,
  });
  const stop = new AbortController();
  const kinds = new ServedKinds({ client, resources: operatorKinds, clock: systemClock, logger });
  const watch = kinds.run(AbortSignal.any([signal, stop.signal]));
  try {
    await Promise.race([kinds.ready(), aborted(signal)]);
  } finally {
    stop.abort(new Error('the kinds are served'));
    await watch;
    await close();
  }
}

/** The address at which clients of this machine reach a server that listens on `bindAddress`. */
function clientAddress(bindAddress: string): string {
  const { host = '0.0.0.0', port = 0 } = parseBindAddress(bindAddress) ?? {};
  if (host === '0.0.0.0' || host === '::') return `127.0.0.1:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
