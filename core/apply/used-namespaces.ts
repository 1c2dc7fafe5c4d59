import type { KubernetesObject } from '../../api/meta.ts';
import { liveObject } from '../platform/kube/index.ts';
import { shortList } from '../short-list.ts';
import { mapOf } from './fields/json-fields.ts';
import type { DesiredObject } from './objects/desired.ts';
import { forEachLimit } from './objects/for-each-limit.ts';
import { isNamespace } from './objects/order.ts';
import { belongsTo } from './ownership/belonging.ts';
import { consentedOwnership } from './ownership/consented-ownership.ts';
import { DeploymentConsent } from './ownership/deployment-consent.ts';
import type { Run } from './run.ts';

/** Namespaces of a set that exist and are not its owner's, as they are. */
export type UsedNamespaces = ReadonlyMap<DesiredObject, KubernetesObject>;

const concurrentReads = 8;
const listedNames = 10;

/**
 * The namespaces of the set that were there before, or that another deployment has: the owner's
 * objects go into them, and they stay as they are. One request for each that is not known as the owner's.
 */
export async function usedNamespaces(run: Run): Promise<UsedNamespaces> {
  const { parts, owner, set, signal } = run;
  const { client, systemNamespace } = parts.options;
  const consent = new DeploymentConsent({ client, claims: parts.claims, signal });
  const asked = set.objects.filter((object) => isNamespace(object.resource) && !isOwn(run, object));
  const used = new Map<DesiredObject, KubernetesObject>();
  await forEachLimit(asked, concurrentReads, async (desired) => {
    const live = await liveObject(client, desired, signal);
    if (live === undefined) return;
    const subject = { owner, id: desired.id, live };
    const { verdict } = await consentedOwnership(subject, systemNamespace, consent);
    if (verdict === 'used') used.set(desired, live);
  });
  return used;
}

function isOwn({ parts, owner }: Run, { resource, key }: DesiredObject): boolean {
  const entry = parts.inventory.get(resource, key);
  return entry !== undefined && belongsTo(entry.object, owner);
}

/** Remembers who uses which namespace, and tells of each once. */
export function noteUsed({ parts, owner, name }: Run, used: UsedNamespaces): void {
  const news = parts.sharedNamespaces.use(name, [...used.keys()]);
  for (const desired of news) {
    const lacking = lackingMarks(desired, used.get(desired));
    const lack =
      lacking.length === 0
        ? ''
        : `. It lacks labels and annotations of the bundle: ${shortList(lacking, listedNames)}. Set them where they are needed`;
    parts.options.events.event(owner, {
      type: lacking.length === 0 ? 'Normal' : 'Warning',
      reason: 'NamespaceUsed',
      message:
        `Namespace "${desired.key.name}" exists and is not this BundleDeployment's: ` +
        `core uses it, and neither changes nor deletes it${lack}`,
    });
  }
}

/** Labels and annotations that the bundle sets, and that the namespace has not, or otherwise. */
function lackingMarks(desired: DesiredObject, live: KubernetesObject | undefined): string[] {
  return (['labels', 'annotations'] as const).flatMap((field) => {
    const present = mapOf(live?.metadata[field]);
    return Object.entries(desired.object.metadata[field] ?? {}).flatMap(([key, value]) =>
      isOwnMark(key) || present[key] === value ? [] : [`${key}=${value}`],
    );
  });
}

function isOwnMark(key: string): boolean {
  return /^(core\.rukpak\.io|applyset\.kubernetes\.io|operator-sdk)\//.test(key);
}
