import { expect, test } from 'vitest';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApplySetParents } from './applyset-parent.ts';

const { signal } = new AbortController();
const configMap = { group: '', kind: 'ConfigMap' };

test('marks that a restored store has lost are written again', async () => {
  const client = new FakeKubeClient();
  const owner = client.put(aStoredDeployment()) as ReturnType<typeof aStoredDeployment>;
  const restore = client.snapshot();
  const { name = '' } = owner.metadata;
  const parents = new ApplySetParents(client, 'rukpak-system');
  await parents.write(owner, [configMap], signal);
  const seen = client.peek({ name }) as typeof owner;
  expect(parents.kinds(seen)).toEqual([configMap]);
  await parents.write(seen, [configMap], signal);
  expect(client.count('patch')).toBe(1);
  restore();
  expect(parents.kinds(owner)).toEqual([]);
  await parents.write(owner, [configMap], signal);
  expect(client.count('patch')).toBe(2);
});
