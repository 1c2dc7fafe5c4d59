import { isNotFound } from '../platform/kube/index.ts';
import type { DesiredObject } from './objects/desired.ts';
import { forEachLimit } from './objects/for-each-limit.ts';
import type { Run } from './run.ts';

const concurrentReads = 8;

/**
 * Takes the owner's health rules as they are now. What they judge and the watch cache has without
 * its content is read once more: built-in rules need less of it.
 */
export async function readJudged(run: Run): Promise<void> {
  const { parts, owner, set } = run;
  if (!parts.rules.use(owner)) return;
  const unread = set.objects.filter((object) => isJudged(run, object));
  await forEachLimit(unread, concurrentReads, async (object) => await read(run, object));
}

function isJudged({ parts: { rules, inventory }, name }: Run, object: DesiredObject): boolean {
  const { resource, key } = object;
  return rules.has(name, resource) && inventory.get(resource, key)?.slim === true;
}

async function read({ parts, client, signal }: Run, { resource, key }: DesiredObject) {
  try {
    parts.inventory.put(resource, await client.get(resource, key, signal));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
