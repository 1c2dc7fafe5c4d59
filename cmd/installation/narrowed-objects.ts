import { fieldAt, listOf, stringAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  clusterRoleBindingResource as bindingResource,
  type KubeClient,
  liveObject,
  type Resource,
} from '../../core/platform/kube/index.ts';
import { bindsAllOf } from './bindings.ts';

interface Comparison {
  readonly resource: Resource;
  /** What the manifest would undo, as the middle of a sentence; undefined for nothing. */
  readonly narrowed: (
    manifest: KubernetesObject,
    live: KubernetesObject,
    manifests: readonly KubernetesObject[],
  ) => string | undefined;
}

const comparisons: readonly Comparison[] = [
  {
    resource: { ...bindingResource, kind: 'ClusterRole', plural: 'clusterroles' },
    narrowed: (manifest, live) =>
      grantsAll(manifest) && !grantsAll(live)
        ? 'limits what core may do, and this installation would give it full access'
        : undefined,
  },
  {
    resource: bindingResource,
    narrowed: (manifest, live, manifests) =>
      bindsAll(manifest, manifests) && !bindsAs(manifest, live)
        ? 'does not bind core’s account to its role, and this installation would give it full access'
        : undefined,
  },
  {
    resource: {
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      namespaced: false,
      kind: 'ValidatingWebhookConfiguration',
      plural: 'validatingwebhookconfigurations',
    },
    narrowed: (manifest, live) => {
      const [lost] = lostNamespaces(manifest, live);
      return lost === undefined
        ? undefined
        : `also guards namespace "${lost}", and this installation would no longer guard it`;
    },
  },
];

/**
 * Why an installation would take back what makes the system stricter, as overlays impersonation and
 * split do; undefined when it does not. Only full access counts as wider: each version may need more
 * permissions than the one before.
 */
export async function narrowedObject(
  client: Pick<KubeClient, 'get'>,
  manifests: readonly KubernetesObject[],
): Promise<string | undefined> {
  for (const { resource, narrowed } of comparisons) {
    for (const manifest of manifests.filter(({ kind }) => kind === resource.kind)) {
      const { name = '' } = manifest.metadata;
      const live = await liveObject(client, { resource, key: { name } });
      const change = live && narrowed(manifest, live, manifests);
      if (change === undefined) continue;
      return `${resource.kind} "${name}" ${change}: apply the overlay that it comes from, or delete it first to lift the restriction`;
    }
  }
  return undefined;
}

function grantsAll(role: KubernetesObject): boolean {
  return listOf(role['rules']).some((rule) =>
    ['apiGroups', 'resources', 'verbs'].every((field) =>
      listOf(fieldAt(rule, field)).includes('*'),
    ),
  );
}

function bindsAll(binding: KubernetesObject, manifests: readonly KubernetesObject[]): boolean {
  const role = stringAt(binding['roleRef'], 'name');
  return manifests.some(
    (each) => each.kind === 'ClusterRole' && each.metadata.name === role && grantsAll(each),
  );
}

function bindsAs(manifest: KubernetesObject, live: KubernetesObject): boolean {
  return (
    stringAt(live['roleRef'], 'name') === stringAt(manifest['roleRef'], 'name') &&
    bindsAllOf(manifest, live)
  );
}

/** Namespaces that a webhook guards beside those of the manifest. */
function lostNamespaces(manifest: KubernetesObject, live: KubernetesObject): readonly string[] {
  const before = listOf(live['webhooks']);
  return listOf(manifest['webhooks']).flatMap((webhook) => {
    const kept = guarded(webhook);
    const same = before.find((each) => stringAt(each, 'name') === stringAt(webhook, 'name'));
    const all = guarded(same);
    // Others are of another installation.
    if (kept.length === 0 || !kept.every((each) => all.includes(each))) return [];
    return all.filter((each) => !kept.includes(each));
  });
}

const nameLabel = 'kubernetes.io/metadata.name';

/** Namespaces that the selector of a webhook names. */
function guarded(webhook: unknown): readonly string[] {
  const selector = fieldAt(webhook, 'namespaceSelector');
  const listed = listOf(fieldAt(selector, 'matchExpressions'))
    .filter((each) => stringAt(each, 'key') === nameLabel && stringAt(each, 'operator') === 'In')
    .flatMap((each) => listOf(fieldAt(each, 'values')));
  return [fieldAt(selector, 'matchLabels', nameLabel), ...listed].filter(
    (name) => typeof name === 'string',
  );
}
