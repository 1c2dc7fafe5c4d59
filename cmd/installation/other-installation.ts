import { listOf, stringAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  clusterRoleBindingResource as bindingResource,
  type KubeClient,
  liveObject,
} from '../../core/platform/kube/index.ts';

interface OtherInstallation {
  readonly namespace: string;
  /** For a message. */
  readonly reason: string;
}

/**
 * Where else the system is installed; undefined when it is not. Bindings are of the whole cluster, and
 * say where the processes run: with another namespace these would go on without permissions.
 */
export async function otherInstallation(
  client: Pick<KubeClient, 'get'>,
  manifests: readonly KubernetesObject[],
  systemNamespace: string,
): Promise<OtherInstallation | undefined> {
  for (const binding of manifests.filter(({ kind }) => kind === bindingResource.kind)) {
    const { name = '' } = binding.metadata;
    const live = await liveObject(client, { resource: bindingResource, key: { name } });
    const namespaces = live === undefined ? [] : namespacesOf(live);
    const [other] = namespaces;
    // Somebody may have bound more accounts.
    const isOwn = namespacesOf(binding).some((namespace) => namespaces.includes(namespace));
    if (other === undefined || isOwn) continue;
    const reason = `ClusterRoleBinding "${name}" belongs to the installation in namespace "${other}", not to one in "${systemNamespace}": name that with --system-namespace`;
    return { namespace: other, reason };
  }
  return undefined;
}

function namespacesOf(binding: KubernetesObject): readonly string[] {
  return listOf(binding['subjects']).flatMap((subject) => stringAt(subject, 'namespace') ?? []);
}
