import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import { eventually } from '../helpers/eventually.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';

/** Whoever writes a message, or what ends in one, must not steer the terminal that shows it. */
const name = 'hostile-terminal';
let kubectl: Kubectl;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  const source = { type: 'image', image: { ref: 'registry.invalid/nothing:v1' } } as const;
  await installCrds(plane.kubeconfig);
  // Where another file has just deleted the kinds, they are served a while after they are made.
  await eventually(async () => await kubectl.apply(aBundleDeployment({ name, source })));
  const condition = {
    type: 'Installed',
    status: 'False',
    reason: 'InstallFailed',
    message: 'the server says \u001b]0;owned\u0007\u001b[2J\u009b31m\u202e',
    lastTransitionTime: '2026-01-02T03:04:05Z',
  };
  const patch = stringifyJson({ status: { conditions: [condition] } });
  const target = ['bundledeployment', name, '--subresource=status'];
  await kubectl.must(['patch', ...target, '--type=merge', '-p', patch]);
});

afterAll(async () => {
  await kubectl.deleteNamed('bundledeployment', [name], { ignoreNotFound: true });
});

test('status shows control characters', async () => {
  const { stdout } = await rukpakctl(['status', name, '--kubeconfig', plane.kubeconfig]);
  expect(stdout).toContain('the server says \\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\u202e');
  expect(stdout).not.toContain('\u001b');
});

test('json keeps the message as it is', async () => {
  const args = ['status', name, '--output', 'json', '--kubeconfig', plane.kubeconfig];
  const { stdout } = await rukpakctl(args);
  expect(JSON.parse(stdout)).toMatchObject({
    conditions: [{ message: 'the server says \u001b]0;owned\u0007\u001b[2J\u009b31m\u202e' }],
  });
});
