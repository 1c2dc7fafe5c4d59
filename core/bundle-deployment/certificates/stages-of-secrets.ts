import type { KubernetesObject } from '../../../api/meta.ts';
import { stageOf } from '../../apply/index.ts';
import { gvkOf } from '../../platform/kube/index.ts';
import { secretsUsedBy } from './mounted-secrets.ts';
import type { WantedCertificates } from './wanted-certificates.ts';

export interface SecretStages {
  readonly wanted: WantedCertificates;
  readonly systemNamespace: string;
}

/**
 * The stage in which each Secret has to be there, by its key: the first one of the Services that it
 * is for and of the workloads whose pods use it. Nothing else may come between.
 */
export function stagesOfSecrets(
  objects: readonly KubernetesObject[],
  context: SecretStages,
): ReadonlyMap<string, number> {
  const users = usersOf(objects, context);
  return new Map(
    [...context.wanted.secrets].map(([key, { services }]) => {
      const needing = [...services, ...(users.get(key) ?? [])];
      return [key, Math.min(...needing.map(stageOfObject))];
    }),
  );
}

/** Workloads whose pods use a Secret that is made, by its key; looked for once for all of them. */
function usersOf(
  objects: readonly KubernetesObject[],
  { wanted, systemNamespace }: SecretStages,
): ReadonlyMap<string, readonly KubernetesObject[]> {
  const users = new Map<string, KubernetesObject[]>();
  for (const object of objects) {
    const namespace = object.metadata.namespace || systemNamespace;
    for (const name of secretsUsedBy(object)) {
      const key = `${namespace}/${name}`;
      if (!wanted.secrets.has(key)) continue;
      const known = users.get(key);
      if (known === undefined) users.set(key, [object]);
      else known.push(object);
    }
  }
  return users;
}

function stageOfObject(object: KubernetesObject): number {
  return stageOf({ resource: gvkOf(object), object });
}
