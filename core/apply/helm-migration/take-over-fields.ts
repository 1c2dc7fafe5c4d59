import {
  isConflict,
  isNotFound,
  type KubeClient,
  type ObjectKey,
  type Resource,
} from '../../platform/kube/index.ts';
import { handedOver } from './hand-over.ts';

const attempts = 5;

export interface FieldsToTake {
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** As for `formerEntries`. */
  readonly returned: boolean;
}

/**
 * Makes the fields that RukPak wrote ours; changes nothing else of the object. Whoever writes the
 * object meanwhile is not overwritten.
 * @throws ApiError where the server refuses, or somebody else is quicker each time.
 */
export async function takeOverFields(
  client: KubeClient,
  target: FieldsToTake,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await handOver(client, target, signal);
      return;
    } catch (error) {
      // One that was deleted meanwhile is made anew by the apply.
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === attempts) throw error;
    }
  }
}

async function handOver(
  client: KubeClient,
  { resource, key, returned }: FieldsToTake,
  signal: AbortSignal,
): Promise<void> {
  // What the watches keep has lost the fields of others.
  const live = await client.get(resource, key, signal);
  const managedFields = handedOver(live, returned);
  if (managedFields === undefined) return;
  const { resourceVersion } = live.metadata;
  const patch = [
    { op: 'replace', path: '/metadata/managedFields', value: managedFields },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
  ];
  await client.patch({ resource, key }, patch, { type: 'json', signal });
}
