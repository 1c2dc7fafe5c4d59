import type { KubernetesObject } from '../../../api/meta.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  definitionResource,
  type KubeClient,
  Reflector,
  type Resource,
  versionOnly,
} from '../../platform/kube/index.ts';
import {
  Controller,
  type ControllerOptions,
  IndexedCache,
  type Runnable,
} from '../../platform/runtime/index.ts';

export interface CrdReaderRoleOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch' | 'apply'>;
  /** Name of the ClusterRole. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: ControllerOptions['metrics'];
}

const clusterRoleResource: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};

const fieldManager = 'rukpak-core';

/**
 * Maintains a ClusterRole that may list the custom resources of every CRD and nothing else, because
 * RBAC has no rule for "all but the built-in kinds". crdvalidator uses it; the permission to write
 * such a role would be too much for crdvalidator itself (docs/adr/0036).
 */
export function createCrdReaderRole({ name, ...options }: CrdReaderRoleOptions): Runnable {
  const { client } = options;
  const definitions = new IndexedCache();
  const reflector = new Reflector({
    ...options,
    resource: definitionResource,
    metadataOnly: true,
    transform: versionOnly,
    sink: definitions,
  });
  const controller = new Controller({
    ...options,
    name: 'crdreaderrole',
    kind: 'ClusterRole',
    workers: 1,
    async reconcile(_key, { signal }) {
      const role = aRole(name, definitions.list());
      await client.apply(clusterRoleResource, role, { fieldManager, force: true, signal });
    },
  });
  definitions.onChange(({ type }) => {
    // An incomplete list would remove permissions for a while.
    if (reflector.synced && type !== 'updated') controller.enqueue(name);
  });
  return {
    name: 'role of who reads custom resources',
    async run(signal, lost) {
      const begin = reflector.whenSynced(signal).then(
        () => controller.enqueue(name),
        () => undefined,
      );
      await Promise.all([reflector.run(signal), begin, controller.run(signal, lost)]);
    },
  };
}

function aRole(name: string, definitions: readonly KubernetesObject[]): KubernetesObject {
  const { apiVersion, kind } = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
  return { apiVersion, kind, metadata: { name }, rules: rulesFor(definitions) };
}

/** The API server requires `<plural>.<group>` as a CRD's name; the empty core group has no CRDs. */
function rulesFor(definitions: readonly KubernetesObject[]): readonly object[] {
  const names = definitions.map(({ metadata }) => metadata.name ?? '').toSorted();
  const byGroup = Map.groupBy(names, (name) => name.slice(name.indexOf('.') + 1));
  return Array.from(byGroup, ([group, members]) => ({
    apiGroups: [group],
    resources: members.map((member) => member.slice(0, member.indexOf('.'))),
    verbs: ['list'],
  }));
}
