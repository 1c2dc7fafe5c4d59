import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { ForwardingNode } from '../helpers/forwarding-node.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';

const namespace = 'rukpak-system';

let kubectl: Kubectl;
let system: InClusterSystem;
let node: ForwardingNode;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await InClusterSystem.install({ kubectl, registry: plane.registry });
  await system.startWebhooks();
  await system.startCrdvalidator();
  const core = await system.startCore();
  node = await ForwardingNode.start({
    kubectl,
    kubeconfig: plane.kubeconfig,
    clusterDir: plane.clusterDir,
    name: 'rukpakctl-verify',
    forwards: { 8443: core.ports[1] ?? 0 },
  });
  await node.take(namespace, 'core');
});

afterAll(async () => {
  // Before the node: a pod whose node is gone is collected a minute later, and its namespace with it.
  await system?.remove();
  await node?.remove();
});

async function verify(): Promise<CtlResult> {
  return await rukpakctl(['verify'], { env: { KUBECONFIG: plane.kubeconfig } });
}

test('every part of an installation in the cluster is looked at', async () => {
  await eventually(async () => {
    const { code, stdout } = await verify();
    expect({ code, stdout }).toMatchObject({ code: 0 });
    for (const name of ['core', 'rukpak-webhooks']) {
      expect(stdout).toMatch(
        new RegExp(`^ok {7}Deployment ${namespace}/${name}: Deployment is available\\. `, 'm'),
      );
    }
    expect(stdout).toMatch(/^ok {7}Lease core\.rukpak\.io: held by /m);
    expect(stdout).toContain(`ok       Secret ${namespace}/core-cert: valid for `);
    expect(stdout).toContain(
      'ok       caBundle of crd-validation-webhook: trusts Secret crdvalidator-system/crd-validation-webhook-serving-certificate\n',
    );
    expect(stdout).toContain('ok       content server: answers, and asks strangers who they are\n');
    expect(stdout).toContain('skipped  OLM 1.0: is not installed (it is optional)\n');
  });
});

test('a missing permission and a process that is not there fail', async () => {
  const place = ['--namespace', namespace];
  await kubectl.deleteNamed('clusterrolebinding', ['rukpak-webhooks-admin']);
  await kubectl.must([
    'patch',
    'deployment',
    'rukpak-webhooks',
    ...place,
    '--patch={"spec":{"template":{"spec":{"nodeSelector":{"example.com/none":"none"}}}}}',
  ]);
  await eventually(async () => {
    const { code, stdout } = await verify();
    expect(code).toBe(1);
    expect(stdout).toContain(
      `failed   ServiceAccount ${namespace}/rukpak-webhooks-admin: may not watch bundles.core.rukpak.io, watch bundledeployments.core.rukpak.io, create subjectaccessreviews.authorization.k8s.io; `,
    );
    expect(stdout).toMatch(
      new RegExp(`^failed {3}Deployment ${namespace}/rukpak-webhooks: .*kubectl describe`, 'm'),
    );
  });
});
