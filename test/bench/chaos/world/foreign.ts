import type { KubernetesObject } from '../../../../api/meta.ts';
import {
  configMapResource,
  type KubeClient,
  listAll,
  namespaceResource,
} from '../../../../core/platform/kube/index.ts';
import { inParallel } from '../../scale/in-parallel.ts';
import { insisting } from './insisting.ts';

const namespace = 'chaos-foreign';

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Written {
  readonly uid: string;
  turn: number;
  last: Promise<void>;
}

/** ConfigMaps that core does not manage, named like those of apps, and changed all the time. */
export class ForeignObjects {
  readonly #client: KubeClient;
  /** Last written value and UID of each. */
  readonly #written = new Map<string, Written>();

  private constructor(client: KubeClient) {
    this.#client = client;
  }

  static async create(client: KubeClient, names: readonly string[]): Promise<ForeignObjects> {
    const foreign = new ForeignObjects(client);
    const apiVersion = 'v1';
    await client.create(namespaceResource, {
      apiVersion,
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    await inParallel(names, async (name) => {
      const object = {
        apiVersion,
        kind: 'ConfigMap',
        metadata: { namespace, name },
        data: { turn: '0' },
      };
      const { metadata } = await client.create(configMapResource, object);
      foreign.#written.set(name, { uid: metadata.uid ?? '', turn: 0, last: Promise.resolve() });
    });
    return foreign;
  }

  /** Changes each of a share of them once; one after another where `width` is 1. */
  async churn(
    random: () => number,
    { share, width }: { readonly share: number; readonly width: number },
  ): Promise<void> {
    const chosen = [...this.#written].filter(() => random() < share);
    await inParallel(chosen, ([name, state]) => this.#turn(name, state), width);
  }

  /** Serializes changes of all callers, so that the last one stays. */
  #turn(name: string, state: Written): Promise<void> {
    const patch = (): Promise<void> => {
      const key = { namespace, name };
      const data = { turn: `${state.turn + 1}` };
      return insisting(async () => {
        await this.#client.patch({ resource: configMapResource, key }, { data }, { type: 'merge' });
        state.turn += 1;
      });
    };
    state.last = state.last.then(patch);
    return state.last;
  }

  /** Changes by anybody else. */
  async violations(): Promise<readonly string[]> {
    const transform = (object: KubernetesObject): KubernetesObject => object;
    const { items } = await listAll(this.#client, configMapResource, { namespace, transform });
    const found = new Map(items.map((item) => [item.metadata.name ?? '', item as ConfigMap]));
    return [...this.#written].flatMap(([name, { uid, turn }]) => {
      const object = found.get(name);
      if (object?.metadata.uid !== uid) return [`foreign ConfigMap ${name} is gone or another one`];
      const isTouched = object.data?.['turn'] !== `${turn}` || object.metadata.labels !== undefined;
      return isTouched ? [`foreign ConfigMap ${name} is not as it was written`] : [];
    });
  }

  async delete(): Promise<void> {
    await insisting(() => this.#client.delete(namespaceResource, { name: namespace }));
  }
}
