import type { KubernetesObject } from '../../../../api/meta.ts';
import { type Clock, microTime } from '../../clock.ts';
import {
  isConflict,
  isNotFound,
  type KubeClient,
  liveObject,
  type Resource,
} from '../../kube/index.ts';

/** Where the API server serves leases. */
export const leaseResource: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

export interface Lease extends KubernetesObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export interface LeaseLockOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** The Lease's name. */
  readonly name: string;
  /** Unique for each process. */
  readonly identity: string;
  readonly clock: Clock;
}

/** Seconds, as in client-go. */
const leaseDurationSeconds = 15;

/**
 * A Lease as a lock: taken when free or expired, and kept by renewing it, over connections of its
 * own.
 */
export class LeaseLock {
  readonly #options: LeaseLockOptions;
  /**
   * The Lease as last seen, and the time of that by the local clock, because the holder's clock may
   * be wrong.
   */
  #observed: { readonly lease: Lease; readonly at: number } | undefined;

  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LeaseLockOptions) {
    this.#options = { ...options, client: options.client.reserved() };
  }

  /**
   * When this process asked the API server to store the Lease that it has, in the clock's monotonic
   * milliseconds: others count its time from a later moment, however late the answer.
   */
  get renewedAt(): number {
    return this.#renewedAt;
  }

  /** The other process that held the Lease when it was last seen. */
  get otherHolder(): string | undefined {
    const holder = this.#observed?.lease.spec?.holderIdentity ?? '';
    return holder === '' || holder === this.#options.identity ? undefined : holder;
  }

  /**
   * True when this process has the Lease now.
   * @throws ApiError with a conflict when another process was faster.
   */
  async takeOrRenew(signal: AbortSignal): Promise<boolean> {
    if (await this.#renew(signal)) return true;
    const { client, clock } = this.#options;
    const current = await this.#read(signal);
    if (current === undefined) {
      const lease = this.#newLease(microTime(clock.now()));
      await this.#store(() => client.create(leaseResource, lease, signal));
      return true;
    }
    this.#observe(current);
    if (!this.#isOurs(current) && this.#isLive(current)) return false;
    await this.#write(current, signal);
    return true;
  }

  /** Renews the last seen Lease without reading it; false when it has changed. */
  async #renew(signal: AbortSignal): Promise<boolean> {
    const lease = this.#observed?.lease;
    if (lease === undefined || !this.#isOurs(lease)) return false;
    try {
      await this.#write(lease, signal);
      return true;
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false;
      throw error;
    }
  }

  async #write(lease: Lease, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const { acquireTime, leaseTransitions = 0 } = lease.spec ?? {};
    const ours = this.#isOurs(lease);
    const spec = {
      ...lease.spec,
      ...this.#holding(microTime(clock.now())),
      ...(ours && { acquireTime }),
      leaseTransitions: ours ? leaseTransitions : leaseTransitions + 1,
    };
    await this.#store(() => client.update(leaseResource, { ...lease, spec }, signal));
  }

  async #store(write: () => Promise<Lease>): Promise<void> {
    const at = this.#options.clock.monotonic();
    this.#observe(await write());
    this.#renewedAt = at;
  }

  #isOurs({ spec }: Lease): boolean {
    return spec?.holderIdentity === this.#options.identity;
  }

  /** Lets the next holder start at once instead of after the Lease's expiry. */
  async release(signal: AbortSignal): Promise<void> {
    const lease = this.#observed?.lease;
    if (lease === undefined || this.otherHolder !== undefined) return;
    try {
      await this.#giveBack(lease, signal);
    } catch (error) {
      if (!isConflict(error)) throw error;
      // The server may have stored a renewal whose response the stop has aborted.
      const current = await this.#read(signal);
      if (current !== undefined && this.#isOurs(current)) await this.#giveBack(current, signal);
    }
  }

  async #giveBack(lease: Lease, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const renewTime = microTime(clock.now());
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime };
    this.#observe(await client.update(leaseResource, { ...lease, spec }, signal));
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name } = this.#options;
    return await liveObject(client, { resource: leaseResource, key: { namespace, name } }, signal);
  }

  #newLease(now: string): Lease {
    const { namespace, name } = this.#options;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name },
      spec: { ...this.#holding(now), leaseTransitions: 0 },
    };
  }

  #holding(now: string): NonNullable<Lease['spec']> {
    const holderIdentity = this.#options.identity;
    return { holderIdentity, leaseDurationSeconds, acquireTime: now, renewTime: now };
  }

  /** A changed Lease restarts the wait for its expiry. */
  #observe(lease: Lease): void {
    const seen = this.#observed?.lease.metadata.resourceVersion;
    if (seen === lease.metadata.resourceVersion) return;
    this.#observed = { lease, at: this.#options.clock.monotonic() };
  }

  #isLive({ spec }: Lease): boolean {
    if (!spec?.holderIdentity) return false;
    return (this.#observed?.at ?? 0) + durationOf(spec) > this.#options.clock.monotonic();
  }
}

/** Milliseconds after which a Lease that nobody renews has expired. */
export function durationOf(spec: Lease['spec']): number {
  return (spec?.leaseDurationSeconds ?? leaseDurationSeconds) * 1_000;
}
