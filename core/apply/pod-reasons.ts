import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { EngineParts } from './engine-parts.ts';
import { isPodsController, workloadReason } from './health/workload-reason.ts';
import { clientOf } from './privilege/owner-client.ts';

/** Each takes two requests, and one is most often the cause of the rest. */
const askedWorkloads = 2;
/** Milliseconds for which an answer holds: a burst of installs must not become one of requests. */
const patience = 60_000;

interface Reasons {
  readonly at: number;
  /** By the line that tells of the workload. */
  readonly byLine: ReadonlyMap<string, string>;
}

/** Why pods of unhealthy workloads do not get ready, with the permissions of their owner. */
export class PodReasons {
  readonly #parts: Pick<EngineParts, 'records' | 'drift' | 'options'>;
  readonly #known = new Map<string, Reasons>();

  constructor(parts: Pick<EngineParts, 'records' | 'drift' | 'options'>) {
    this.#parts = parts;
  }

  /** By the line that tells of the workload. What the API server does not show is not told. */
  async of(owner: BundleDeployment, signal: AbortSignal): Promise<Reasons['byLine']> {
    const { name = '' } = owner.metadata;
    const now = this.#parts.options.clock.monotonic();
    const known = this.#known.get(name);
    if (known !== undefined && now - known.at < patience) return known.byLine;
    const byLine = await this.#ask(owner, signal);
    this.#known.set(name, { at: now, byLine });
    return byLine;
  }

  forget(owner: string): void {
    this.#known.delete(owner);
  }

  async #ask(owner: BundleDeployment, signal: AbortSignal): Promise<Reasons['byLine']> {
    const { records, drift, options } = this.#parts;
    const unhealthy = records
      .of(owner.metadata.name ?? '')
      .filter(isPodsController)
      .flatMap((record) => {
        const line = drift.health(record);
        return line === undefined ? [] : [{ record, line }];
      });
    const byLine = new Map<string, string>();
    for (const { record, line } of unhealthy.slice(0, askedWorkloads)) {
      const client = clientOf(owner, options.client);
      const reason = await workloadReason(client, record, signal).catch(() => undefined);
      signal.throwIfAborted();
      if (reason !== undefined) byLine.set(line, reason);
    }
    return byLine;
  }
}
