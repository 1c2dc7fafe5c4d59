import { afterAll, beforeAll, expect, test } from 'vitest';
import { knownGroups } from '../../api/kubernetes-kinds.ts';
import { knownKinds } from '../../cmd/ctl/permissions/known-kinds.ts';
import { connect, type KubeConnection } from '../../core/platform/kube/index.ts';
import { plane } from '../helpers/plane.ts';

let kube: KubeConnection;

beforeAll(() => {
  kube = connect({ kubeconfig: plane.kubeconfig, userAgent: 'known-kinds-test' });
});

afterAll(async () => await kube.close());

test('what is known of kinds without a cluster is what a cluster says', async () => {
  const known = knownKinds();
  const compared: string[] = [];
  for (const { group, namespaced = '', clusterScoped = '' } of knownGroups) {
    for (const kind of `${namespaced} ${clusterScoped}`.split(' ').filter(Boolean)) {
      const served = await kube.discovery.resourceForGroupKind(group, kind);
      if (served === undefined) continue;
      const { version: _, ...resource } = served;
      expect(await known.resourceForGroupKind(group, kind)).toMatchObject(resource);
      compared.push(kind);
    }
  }
  expect(compared.length).toBeGreaterThan(50);
});
