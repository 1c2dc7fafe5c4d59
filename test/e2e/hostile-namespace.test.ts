import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { configMapResource, connect } from '../../core/platform/kube/index.ts';
import { residentOf } from '../bench/process-memory.ts';
import { eventually } from '../helpers/eventually.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { System } from '../helpers/system.ts';

/** Whoever has content in ConfigMaps writes to the system's namespace, and fills it as they like. */
const namespace = 'rukpak-system';
const labels = { test: 'hostile-namespace' };
const selector = '?labelSelector=test%3Dhostile-namespace';
const collection = `/api/v1/namespaces/${namespace}/configmaps${selector}`;
const mebibyte = 1024 * 1024;
const kube = connect({ kubeconfig: plane.kubeconfig, userAgent: 'rukpak-test/1' });
let kubectl: Kubectl;
let system: System;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await System.start({
    kubeconfig: plane.kubeconfig,
    registry: plane.registry,
    run: RukpakProcess,
  });
});

afterAll(async () => {
  await kubectl.run(['delete', '--raw', collection]);
  await system.stop();
  await kube.close();
});

function aConfigMap(name: string, bytes: number): KubernetesObject {
  const metadata = { name, namespace, labels };
  const data = { filling: randomBytes(bytes / 2).toString('hex') };
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  return configMap;
}

test('many large ConfigMaps cost neither memory nor the start', { tags: 'long' }, async () => {
  const numbers = Array.from({ length: 150 }, (_, index) => index);
  const workers = Array.from({ length: 8 }, async () => {
    for (let next = numbers.pop(); next !== undefined; next = numbers.pop()) {
      const name = `hostile-namespace-${next}`;
      const large = aConfigMap(name, 0.9 * mebibyte);
      // The webhook is given ten seconds for each, however busy the machine is.
      await eventually(async () => await kube.client.create(configMapResource, large));
    }
  });
  await Promise.all(workers);
  await system.terminate();
  await system.restart();
  expect(residentOf(system.pid ?? 0, 'VmHWM')).toBeLessThan(400);
});

test('ConfigMaps are deleted together, as the namespace itself deletes them', async () => {
  await kube.client.create(configMapResource, aConfigMap('hostile-namespace-one', 10));
  await eventually(async () => {
    // A busy server may not be done with all of them within the time of one request.
    await kubectl.must(['delete', '--raw', collection]);
    const list = await kube.client.list(configMapResource, { namespace, labelSelector: 'test' });
    expect(list.items).toEqual([]);
  });
});
