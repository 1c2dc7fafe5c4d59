import { createHash, type Hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { KubernetesObject } from '../../../api/meta.ts';
import { digestOf, type SplitObjects } from '../../apply/index.ts';

interface KnownRevision {
  readonly bundle: string;
  readonly revision: string;
}

/** Milliseconds of work between two looks at what else there is to do. */
const maxTurn = 10;

/** By the list of hooks, which comes and goes with the objects; a deployment is looked at often. */
const known = new WeakMap<readonly KubernetesObject[], KnownRevision>();

/** Another one for another Bundle, and for anything else that its objects and hooks are made to be. */
export async function revisionOf(
  bundle: string,
  { objects, hooks }: SplitObjects,
  signal: AbortSignal,
): Promise<string> {
  const found = known.get(hooks);
  if (found?.bundle === bundle) return found.revision;
  const hash = createHash('sha256').update(bundle);
  const revision = await digestOfAll([...hooks, ...objects], hash, signal);
  known.set(hooks, { bundle, revision });
  return revision;
}

/** Digest of objects in their order, after what the hash has taken before. */
export async function digestOfAll(
  objects: readonly KubernetesObject[],
  hash: Pick<Hash, 'digest'> & { update(text: string): unknown },
  signal: AbortSignal,
): Promise<string> {
  let turn = performance.now();
  for (const object of objects) {
    // CRDs alone may be megabytes: others must get their turn.
    if (performance.now() - turn > maxTurn) {
      await setImmediate();
      signal.throwIfAborted();
      turn = performance.now();
    }
    hash.update(digestOf(object));
  }
  return hash.digest('base64url');
}
