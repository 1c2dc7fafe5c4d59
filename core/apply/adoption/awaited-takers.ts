import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentReason,
  progressReason,
  bundleDeploymentCondition as type,
} from '../../../api/v1alpha1/conditions.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { HoldUp } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import { type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { shortList } from '../../short-list.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { objectPath } from '../objects/object-id.ts';
import { handsOverTo } from '../ownership/adoption-level.ts';

/** How often is looked again while somebody may still take objects: other processes tell nothing. */
const lookInterval = 5000;
const listedObjects = 5;
/** What waits for these was applied before. */
const broughtOut: ReadonlySet<string> = new Set([
  progressReason.pruneHeld,
  progressReason.kindNotServed,
]);

export interface AwaitedTakersOptions {
  /** Reads deployments of all classes. */
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly notify: (owner: string) => void;
}

/** Keeps objects that a deployment drops until those it hands over to have had time to take them. */
export class AwaitedTakers {
  readonly #options: AwaitedTakersOptions;
  readonly #waiting = new Set<string>();

  constructor(options: AwaitedTakersOptions) {
    this.#options = options;
  }

  /**
   * Why none of these objects may be deleted yet; undefined where nobody else may want one. A
   * deployment that has brought out its present spec and took none wants none.
   */
  async holdUp(
    owner: BundleDeployment,
    dropped: readonly InventoryEntry[],
    signal: AbortSignal,
  ): Promise<HoldUp | undefined> {
    if (dropped.length === 0) return undefined;
    const { client } = this.#options;
    for (const name of handsOverTo(owner)) {
      const target = { resource: bundleDeploymentResource, key: { name } };
      const taker = (await liveObject(client, target, signal)) as BundleDeployment | undefined;
      if (taker === undefined || isSettled(taker)) continue;
      this.#lookAgain(owner.metadata.name ?? '');
      return { reason: progressReason.pruneHeld, message: waitingMessage(name, owner, dropped) };
    }
    return undefined;
  }

  #lookAgain(owner: string): void {
    const { clock, signal, notify } = this.#options;
    if (this.#waiting.has(owner)) return;
    this.#waiting.add(owner);
    const look = (): void => {
      this.#waiting.delete(owner);
      notify(owner);
    };
    clock.sleep(lookInterval, signal).then(look, () => undefined);
  }
}

function isSettled({ metadata, status }: BundleDeployment): boolean {
  const { conditions = [], observedGeneration } = status ?? {};
  const is = (name: string, reason: string): boolean =>
    conditions.some((condition) => condition.type === name && condition.reason === reason);
  const waits = conditions.some(
    ({ type: name, reason }) => name === type.progressing && !broughtOut.has(reason),
  );
  return (
    metadata.deletionTimestamp !== undefined ||
    (observedGeneration === metadata.generation &&
      is(type.hasValidBundle, bundleDeploymentReason.unpackSuccessful) &&
      is(type.installed, bundleDeploymentReason.installationSucceeded) &&
      !waits)
  );
}

function waitingMessage(
  taker: string,
  owner: BundleDeployment,
  dropped: readonly InventoryEntry[],
): string {
  const objects = dropped.map(({ resource, key }) => objectPath(resource.kind, key));
  return (
    `not deleted: ${shortList(objects, listedObjects)}: ` +
    `BundleDeployment "${taker}" may take them, and has not brought out its present spec. ` +
    `To delete them: kubectl annotate bundledeployment ${owner.metadata.name ?? ''} ${annotation.handOver}-`
  );
}
