import { afterAll, beforeAll, expect, test } from 'vitest';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { installManifests } from '../../deploy/install-manifests.ts';
import { eventually } from '../helpers/eventually.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { aBundle, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';

/** While nothing answers the shipped webhooks, which refuse what they judge. */
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const id = 'dead-webhooks';
const configuration = 'validatingwebhookconfiguration';
const unanswered = 'failed calling webhook';
const dryRun = '--dry-run=server';

interface Webhook {
  readonly name: string;
}

beforeAll(async () => {
  await installCrds(plane.kubeconfig);
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: id } });
  await eventually(() => kubectl.get('configmap', 'kube-root-ca.crt', id));
  const bundle = aBundle({ name: id, source: anImage('127.0.0.1:1/none:v1') });
  const metadata = {
    name: id,
    labels: { test: id },
    finalizers: ['example.com/held'],
    annotations: { [annotation.pin]: '' },
  };
  // No class serves it.
  const { source } = (bundle as { readonly spec: { readonly source: object } }).spec;
  const spec = { source, provisionerClassName: id };
  await kubectl.apply({ ...bundle, metadata, spec });
  await install();
  // The API server learns of a configuration in its own time.
  await eventually(() => refusalOf(['create', 'configmap', 'a', `--namespace=${id}`, dryRun]));
});

afterAll(async () => {
  await kubectl.deleteNamed(configuration, [id], { ignoreNotFound: true });
  await kubectl.remove('bundle', id);
  await kubectl.deleteNamed('namespace', [id], { wait: false, ignoreNotFound: true });
});

/** The shipped webhooks of Bundles and ConfigMaps, for the objects of this file alone. */
async function install(): Promise<void> {
  const shipped = installManifests({ webhookUrl: 'https://127.0.0.1:1' }).find(
    ({ metadata }) => metadata.name === 'rukpak-validating-webhook-configuration',
  );
  const own: Readonly<Record<string, object>> = {
    'vbundles.core.rukpak.io': { objectSelector: { matchLabels: { test: id } } },
    'vconfigmaps.core.rukpak.io': {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': id } },
    },
  };
  const webhooks = ((shipped?.['webhooks'] ?? []) as Webhook[])
    .filter(({ name }) => own[name] !== undefined)
    .map((webhook) => ({ ...webhook, ...own[webhook.name] }));
  expect(webhooks).toHaveLength(2);
  await kubectl.apply({ ...shipped, metadata: { name: id }, webhooks });
}

async function refusalOf(args: readonly string[]): Promise<string> {
  const { code, stderr } = await kubectl.run(args);
  expect(code).toBe(1);
  expect(stderr).toContain(unanswered);
  return stderr;
}

async function pin(value: string): Promise<{ readonly code: number; readonly stderr: string }> {
  return await kubectl.run(['annotate', 'bundle', id, '--overwrite', `${annotation.pin}=${value}`]);
}

test('what core writes to Bundles waits for none, and a pin that is there stays', async () => {
  expect(await pin('sha256:1')).toMatchObject({ code: 0 });
  expect((await pin('sha256:2')).stderr).toContain(unanswered);
  expect((await pin('')).stderr).toContain(unanswered);
  const removal = ['annotate', 'bundle', id, `${annotation.pin}-`];
  expect((await kubectl.run(removal)).stderr).toContain(unanswered);
  const spec = '{"spec":{"provisionerClassName":"other"}}';
  await refusalOf(['patch', 'bundle', id, '--type=merge', '-p', spec]);
  await kubectl.must(['label', 'bundle', id, 'a=b']);
  await kubectl.deleteNamed('bundle', [id], { wait: false });
  const finalizers = '{"metadata":{"finalizers":null}}';
  await kubectl.must(['patch', 'bundle', id, '--type=merge', '-p', finalizers]);
  await eventually(async () => expect(await kubectl.exists('bundle', id)).toBe(false));
});

test('the deletion of the system namespace ends, which deletes its ConfigMaps', async () => {
  await refusalOf(['create', 'configmap', 'b', `--namespace=${id}`]);
  await kubectl.deleteNamed('namespace', [id]);
});
