import type { Logger } from '../../../contracts/logger.ts';
import { errorMessage } from '../../../errors.ts';
import { type Clock, withDeadline } from '../../clock.ts';
import { isForbidden, type KubeClient, liveObject } from '../../kube/index.ts';
import { timeoutError } from './leader-elector.ts';
import { durationOf, type Lease, leaseResource } from './lease-lock.ts';

interface OtherLeaderOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly leaseName: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Milliseconds. */
const requestTimeout = 10_000;
const retryPeriod = 2_000;
/** A Lease that was not renewed for so long is of a killed process, even if clocks differ. */
const longAbandoned = 10 * durationOf(undefined);

/**
 * Resolves once no process holds the Lease, or the signal is aborted. A Lease that was renewed a
 * moment ago is watched until it is renewed again or has expired: its holder may have been killed.
 * @throws Error that names the holder: two processes that reconcile undo each other's work.
 */
export async function checkNobodyLeads(
  options: OtherLeaderOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, logger, namespace, leaseName } = options;
  const lease = `${namespace}/${leaseName}`;
  let seen: Held | undefined;
  for (let since = 0; !signal.aborted; ) {
    const held = await readHeld(options, signal);
    if (held === undefined) return;
    if (held !== 'unknown') {
      const { holder } = held;
      if (seen === undefined) {
        logger.info({ lease, holder }, 'waiting to see whether its holder renews the lease');
        since = clock.monotonic();
      } else if (held.renewed !== seen.renewed) {
        throw new Error(
          `${holder} holds Lease ${lease} and renews it: it reconciles what this process would. ` +
            'Stop it first, or let this process wait for the Lease (--leader-elect)',
        );
      } else if (clock.monotonic() - since >= held.duration) return;
      seen = held;
    }
    await clock.sleep(retryPeriod, signal).catch(() => undefined);
  }
}

interface Held {
  readonly holder: string;
  readonly renewed: string;
  /** Milliseconds. */
  readonly duration: number;
}

/** Undefined for a free Lease; `unknown` when the API server does not answer. */
async function readHeld(
  { client, namespace, leaseName: name, clock, logger }: OtherLeaderOptions,
  signal: AbortSignal,
): Promise<Held | 'unknown' | undefined> {
  const place = { resource: leaseResource, key: { namespace, name } };
  const deadline = { ms: requestTimeout, signal, timeoutError };
  try {
    const lease = await withDeadline(deadline, async (within) => liveObject(client, place, within));
    return heldOf(lease, clock.now());
  } catch (error) {
    const consequence = isForbidden(error) ? 'another process may reconcile too' : 'trying again';
    if (!signal.aborted) {
      const lease = `${namespace}/${name}`;
      logger.warn({ lease, error: errorMessage(error) }, `cannot read the lease: ${consequence}`);
    }
    return isForbidden(error) ? undefined : 'unknown';
  }
}

function heldOf(lease: Lease | undefined, now: number): Held | undefined {
  const { holderIdentity: holder = '', renewTime: renewed = '' } = lease?.spec ?? {};
  if (holder === '' || now - Date.parse(renewed) > longAbandoned) return undefined;
  return { holder, renewed, duration: durationOf(lease?.spec) };
}
