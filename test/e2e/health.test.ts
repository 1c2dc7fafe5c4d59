import { afterAll, beforeAll, expect, test } from 'vitest';
import { followHowto } from '../helpers/howto.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { System } from '../helpers/system.ts';

let kubectl: Kubectl;
let system: System;

beforeAll(async () => {
  const kubeconfig = plane.kubeconfig;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  system = await System.start({ kubeconfig, registry: plane.registry });
});

afterAll(async () => {
  for (const kind of ['bundledeployments', 'bundles']) {
    await kubectl.deleteAll(kind, { ignoreNotFound: true });
  }
  await system.stop();
});

test('the session of docs/howto/health.md', { tags: 'long' }, async () => {
  const session = { page: 'health.md', kubectl, kubeconfig: plane.kubeconfig };
  const output = await followHowto(session, 'A session');
  expect(output).toContain(
    '(howto.example.com/v1, Kind=Database)(default/orders): object InProgress: ' +
      'spec.health.rules[0].healthy: No such key: status',
  );
  expect(output).toMatch(/"secondsToHealthy":\d/);
  const { stdout } = await kubectl.run(['get', 'events', '--all-namespaces']);
  expect(stdout).toContain('ProgressDeadlineExceeded');
});

test('expressions that are no CEL are refused, with the field and the reason', async () => {
  const source = anImage('example.invalid/a:b');
  await kubectl.apply(aBundleDeployment({ name: 'no-cel', source }));
  const health = { rules: [{ kind: 'Pod', healthy: 'self.status ==' }] };
  const patch = JSON.stringify({ spec: { health } });
  const words = ['patch', 'bundledeployment', 'no-cel', '--type=merge', '-p', patch];
  const { code, stderr } = await kubectl.run(words);
  expect(code).not.toBe(0);
  expect(stderr).toContain(
    'spec.health.rules[0].healthy is not a valid CEL expression over self: ',
  );
});
