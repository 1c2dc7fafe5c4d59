import { listOf, stringAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  formatKey,
  isConflict,
  type KubeClient,
  keyOf,
  liveObject,
  type Resource,
} from '../../core/platform/kube/index.ts';

interface BindingWriter {
  readonly client: Pick<KubeClient, 'get' | 'apply'>;
  /** Reads for the first attempt; may answer from memory. */
  readonly known: Pick<KubeClient, 'get'>;
  readonly fieldManager: string;
  readonly warn: (line: string) => void;
}

const mostAttempts = 5;

export function isBinding({ kind }: KubernetesObject): boolean {
  return kind === 'ClusterRoleBinding' || kind === 'RoleBinding';
}

/**
 * Applies a binding with all subjects that it already has: `subjects` is an atomic list, so that an
 * apply of the manifest alone would unbind accounts that others have added. Warns of those. No
 * release has dropped a subject of its own so far: one that does must remove it here.
 */
export async function applyBinding(
  { resource, manifest }: { readonly resource: Resource; readonly manifest: KubernetesObject },
  { client, known, fieldManager, warn }: BindingWriter,
): Promise<void> {
  const target = { resource, key: keyOf(manifest) };
  let live = await liveObject(known, target);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.apply(resource, withSubjectsOf(live, manifest), { fieldManager, force: true });
      const others = othersIn(live, manifest);
      if (others !== undefined) {
        warn(
          `${others}, which this release does not name: kept. Remove subjects that you do not need with "kubectl edit"`,
        );
      }
      return;
    } catch (error) {
      if (!isConflict(error) || attempt === mostAttempts) throw error;
      live = await liveObject(client, target);
    }
  }
}

/** Names what a binding binds besides the subjects of its manifest; undefined for nothing. */
export function othersIn(
  live: KubernetesObject | undefined,
  manifest: KubernetesObject,
): string | undefined {
  const others = subjectsBeside(manifest, live).map(textOfSubject);
  if (others.length === 0) return undefined;
  return `${manifest.kind} "${formatKey(keyOf(manifest))}" also binds ${others.join(', ')}`;
}

/** With the version that was read: a subject that somebody adds meanwhile makes a conflict. */
function withSubjectsOf(
  live: KubernetesObject | undefined,
  manifest: KubernetesObject,
): KubernetesObject {
  if (live === undefined) return manifest;
  const { resourceVersion } = live.metadata;
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  const subjects = [...listOf(live['subjects']), ...subjectsBeside(live, manifest)];
  return { ...manifest, metadata: { ...manifest.metadata, ...version }, subjects };
}

/** Subjects of `binding` that `other` does not have. */
function subjectsBeside(
  other: KubernetesObject,
  binding: KubernetesObject | undefined,
): readonly unknown[] {
  const named = new Set(listOf(other['subjects']).map(textOfSubject));
  return listOf(binding?.['subjects']).filter((subject) => !named.has(textOfSubject(subject)));
}

/** Whether `binding` binds all subjects of `other`. */
export function bindsAllOf(other: KubernetesObject, binding: KubernetesObject): boolean {
  return subjectsBeside(binding, other).length === 0;
}

/** Its kind and name, such as `ServiceAccount "tools/deployer"`. */
function textOfSubject(subject: unknown): string {
  const [kind, namespace, name] = ['kind', 'namespace', 'name'].map(
    (field) => stringAt(subject, field) ?? '',
  );
  return `${kind} "${formatKey({ namespace, name: name ?? '' })}"`;
}

/** Reads each object only once. */
export function readingOnce(client: Pick<KubeClient, 'get'>): Pick<KubeClient, 'get'> {
  const answers = new Map<string, Promise<KubernetesObject>>();
  return {
    get: async (resource, key, signal) => {
      const id = `${resource.plural}.${resource.group} ${formatKey(key)}`;
      const answer = answers.get(id) ?? client.get(resource, key, signal);
      answers.set(id, answer);
      return await answer;
    },
  };
}
