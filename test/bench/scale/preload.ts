import type { KubernetesObject } from '../../../api/meta.ts';
import {
  configMapResource,
  definitionResource,
  type KubeClient,
  namespaceResource,
  type Resource,
  secretResource,
} from '../../../core/platform/kube/index.ts';
import { aCRD } from '../../helpers/objects.ts';
import { inParallel } from './in-parallel.ts';

const namespaces = 50;
const groups = 20;
/** Of each object's data, bytes. */
const size = 500;

export interface Crowd {
  /** ConfigMaps, and as many Secrets. */
  readonly objects: number;
  readonly definitions: number;
}

/** Fills a cluster with foreign objects. */
export async function preload(
  client: KubeClient,
  { objects, definitions }: Crowd,
  say: (line: string) => void,
): Promise<void> {
  await inParallel(upTo(namespaces), (index) =>
    client.create(namespaceResource, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespaceOf(index) },
    }),
  );
  const create = async (resource: Resource): Promise<void> => {
    say(`${objects} ${resource.plural}`);
    await inParallel(upTo(objects), (index) => client.create(resource, stranger(resource, index)));
  };
  await create(configMapResource);
  await create(secretResource);
  say(`${definitions} definitions`);
  await inParallel(upTo(definitions), (index) =>
    client.create(definitionResource, strangeDefinition(index)),
  );
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function namespaceOf(index: number): string {
  return `crowd-${index % namespaces}`;
}

function stranger({ kind }: Resource, index: number): KubernetesObject {
  const text = `${index}`.repeat(size).slice(0, size);
  return {
    apiVersion: 'v1',
    kind,
    metadata: { name: `stranger-${index}`, namespace: namespaceOf(index) },
    data: { text: kind === 'Secret' ? Buffer.from(text).toString('base64') : text },
  };
}

function strangeDefinition(index: number): KubernetesObject {
  const group = `crowd-${index % groups}.example.com`;
  const definition = aCRD(`Stranger${index}`) as KubernetesObject & { readonly spec: object };
  return {
    ...definition,
    metadata: { name: `stranger${index}s.${group}` },
    spec: { ...definition.spec, group },
  };
}
