import { expect, it } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Resource } from '../../../core/platform/kube/index.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { asTemporaryReader } from './temporary-reader.ts';

it('leaves no binding where it is interrupted while the API server makes it', async () => {
  const stop = new AbortController();
  /** Executes requests even after their caller has gone, as API servers do. */
  class SlowAnswer extends FakeKubeClient {
    override async create(
      resource: Resource,
      object: KubernetesObject,
      signal?: AbortSignal,
    ): Promise<KubernetesObject> {
      const created = await super.create(resource, object);
      stop.abort(new Error('received SIGINT'));
      signal?.throwIfAborted();
      return created;
    }
  }
  const client = new SlowAnswer();
  const options = { namespace: 'rukpak-system', signal: stop.signal };
  const reading = asTemporaryReader({ client }, options, async () => 'content');
  await expect(reading).rejects.toThrow('received SIGINT');
  expect(client.everything.filter(({ kind }) => kind === 'ClusterRoleBinding')).toEqual([]);
});

it('tells both errors where a failed reading leaves a binding', async () => {
  class Undeletable extends FakeKubeClient {
    override async delete(): Promise<void> {
      throw new Error('deletion forbidden');
    }
  }
  const client = new Undeletable();
  const { signal } = new AbortController();
  const options = { namespace: 'rukpak-system', signal };
  client.request = async () => ({ status: { token: 't' } });
  const reading = asTemporaryReader({ client }, options, async () => {
    throw new Error('no content');
  });
  await expect(reading).rejects.toThrow(
    /^no content; ClusterRoleBinding "rukpakctl-crb-[0-9a-f]{8}" cannot be deleted \(deletion forbidden\), with which ServiceAccount "rukpak-system\/rukpakctl-sa-[0-9a-f]{8}" may read bundles: delete it with kubectl$/,
  );
});
