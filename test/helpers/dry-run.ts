import { gvkOf } from '../../api/gvk.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { errorMessage } from '../../core/errors.ts';
import { type KubeConnection } from '../../core/platform/kube/index.ts';

/** Why the API server would not take an object. */
export interface Refusal {
  /** `<kind> <name>` */
  readonly object: string;
  readonly message: string;
}

/** Dry-runs the apply of each object, and returns the API server's refusals. */
export async function refusalsOf(
  connection: Pick<KubeConnection, 'client' | 'discovery'>,
  objects: readonly KubernetesObject[],
): Promise<readonly Refusal[]> {
  const refusals = await Promise.all(
    objects.map(async (object) => {
      const message = await refusalOf(connection, object);
      return message === undefined
        ? []
        : [{ object: `${object.kind} ${object.metadata.name}`, message }];
    }),
  );
  return refusals.flat();
}

async function refusalOf(
  { client, discovery }: Pick<KubeConnection, 'client' | 'discovery'>,
  object: KubernetesObject,
): Promise<string | undefined> {
  const resource = await discovery.resourceFor(gvkOf(object));
  if (resource === undefined) return `no kind ${object.apiVersion} ${object.kind}`;
  try {
    await client.apply(resource, object, { fieldManager: 'dry-run', force: true, dryRun: true });
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}
