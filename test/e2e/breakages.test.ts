// @module-tag long

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeploymentSpec, BundleSource } from '../../api/v1alpha1/index.ts';
import { loadDirectory } from '../../cmd/ctl/content/load-content.ts';
import { defaultLimits } from '../../core/content/index.ts';
import { generateCertificates } from '../../deploy/local/cluster/certificates.ts';
import { anArchive } from '../helpers/archives.ts';
import { FakeClassServer } from '../helpers/class-server.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { FileServer } from '../helpers/file-server.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import {
  aBundleDeployment,
  aConfigMap,
  aDeployment,
  anImage,
  aServiceAccount,
} from '../helpers/objects.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { pushImage } from '../helpers/push-image.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { smallBundles } from '../helpers/small-bundles.ts';
import { System } from '../helpers/system.ts';
import { workerPorts } from '../helpers/worker-ports.ts';

const page = join(import.meta.dirname, '../../docs/howto/troubleshooting.md');
const { registry, kubeconfig } = plane;
const htpasswd = 'alice:$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e\n';

/** As an author of a class has them: one that throws, and one that reads what it may not. */
const acme = `
import { readFileSync } from 'node:fs';
export default {
  className: 'acme',
  contractVersion: 1,
  bundle: async (files) => files,
  deployment: async (_files, { metadata }) => {
    if (metadata.name === 'reading-class') readFileSync('/etc/passwd');
    throw new Error('boom');
  },
};
`;

let kubectl: Kubectl;
let folder: string;
let system: System;
let guarded: OwnRegistry;
let expired: FileServer;
let files: FileServer;
let remote: FakeClassServer;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  folder = await mkdtemp(join(tmpdir(), 'breakages-'));
  guarded = await OwnRegistry.start({ dir: folder, htpasswd });
  const certificates = await generateCertificates();
  expired = await FileServer.start({ tls: certificates.server });
  files = await FileServer.start({ user: { username: 'alice', password: 'right' } });
  const module = join(folder, 'acme.ts');
  await writeFile(module, acme);
  remote = await FakeClassServer.start({ className: 'remote' });
  const flags = [
    `--provisioner=${module}`,
    `--provisioner-url=remote=${remote.url}`,
    `--insecure-registry=${guarded.host}`,
  ];
  system = await System.start({ kubeconfig, registry, flags });
  await remote.stop();
});

afterAll(async () => {
  // Core deletes with the rights of the account, which has none.
  const remove = [{ op: 'remove', path: '/spec/serviceAccount' }];
  await kubectl.run([
    'patch',
    'bd',
    'account-without-rights',
    '--type=json',
    `--patch=${JSON.stringify(remove)}`,
  ]);
  const [held, release] = ['held', { metadata: { finalizers: null } }];
  await kubectl.run([
    'patch',
    'configmap',
    held,
    '--namespace=breakage-gone',
    '--type=merge',
    `--patch=${JSON.stringify(release)}`,
  ]);
  await kubectl.deleteAll('bundledeployments,bundles', { ignoreNotFound: true });
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  await kubectl.deleteNamed('configmap', ['object-of-others'], {
    namespace: 'default',
    ignoreNotFound: true,
  });
  await kubectl.deleteNamed('secret', ['wrong-password'], {
    namespace: 'rukpak-system',
    ignoreNotFound: true,
  });
  await kubectl.deleteNamed('namespace', ['breakage-team', 'breakage-gone'], {
    wait: false,
    ignoreNotFound: true,
  });
  await system?.stop();
  await Promise.all([guarded?.stop(), expired?.stop(), files?.stop(), remote?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

async function content(name: string, ...objects: readonly object[]): Promise<BundleSource> {
  return await pushContent({ registry, name, version: 1, files: plainFiles(objects) });
}

async function deploy(
  name: string,
  source: BundleSource,
  spec: Partial<BundleDeploymentSpec> = {},
): Promise<void> {
  const deployment = aBundleDeployment({ name, source }) as KubernetesObject & { spec: object };
  await kubectl.apply({ ...deployment, spec: { ...deployment.spec, ...spec } });
}

async function ready(name: string): Promise<{ reason: string; message: string }> {
  const condition = conditionOf(await kubectl.get('bundledeployment', name), 'Ready');
  return { reason: condition?.reason ?? '', message: condition?.message ?? '' };
}

/** Installs one version and waits for it, to break the next one. */
async function install(name: string, ...objects: readonly object[]): Promise<void> {
  await deploy(name, await content(`${name}-good`, ...objects));
  await kubectl.must(['wait', '--for=condition=Ready', `bd/${name}`, '--timeout=300s']);
}

interface Breakage {
  readonly name: string;
  /** What somebody did, for the table of the page. */
  readonly what: string;
  readonly breaks: (name: string) => Promise<void>;
  readonly reason: string;
  /** In the message of Ready. */
  readonly cause: RegExp;
  /** What `rukpakctl status` proposes. */
  readonly next: RegExp;
}

function plainSpec(
  provisionerClassName: string,
  source: BundleSource,
): Partial<BundleDeploymentSpec> {
  return { template: { spec: { provisionerClassName, source } } };
}

const breakages: readonly Breakage[] = [
  {
    name: 'misspelt-class',
    what: 'a typo in `spec.provisionerClassName`',
    breaks: async (name) =>
      await deploy(name, await content(name), { provisionerClassName: 'core-rukpak-io-plian' }),
    reason: 'ClassNotServed',
    cause: /did you mean "core-rukpak-io-plain"/,
    next: /write "core-rukpak-io-plain" as spec\.provisionerClassName of/,
  },
  {
    name: 'misspelt-bundle-class',
    what: 'a typo in `spec.template.spec.provisionerClassName`',
    breaks: async (name) => {
      const source = await content(name);
      await deploy(name, source, plainSpec('core-rukpak-io-plian', source));
    },
    reason: 'ClassNotServed',
    cause: /did you mean "core-rukpak-io-plain"/,
    next: /write "core-rukpak-io-plain" as spec\.template\.spec\.provisionerClassName of/,
  },
  {
    name: 'class-server-down',
    what: 'the server of `--provisioner-url` does not run',
    breaks: async (name) => {
      await deploy(name, await content(name, aConfigMap(name)), { provisionerClassName: 'remote' });
    },
    reason: 'BundleLoadFailed',
    cause: /class "remote" at/,
    next: /start the server of class "remote", or correct its address/,
  },
  {
    name: 'failing-class',
    what: 'the class throws',
    breaks: async (name) => {
      await deploy(name, await content(name, aConfigMap(name)), { provisionerClassName: 'acme' });
    },
    reason: 'BundleLoadFailed',
    cause: /^class "acme", deployment\(\): boom/,
    next: /deployment\(\) of class "acme" fails/,
  },
  {
    name: 'reading-class',
    what: 'the class reads a file of the machine',
    breaks: async (name) => {
      await deploy(name, await content(name, aConfigMap(name)), { provisionerClassName: 'acme' });
    },
    reason: 'BundleLoadFailed',
    cause: /^class "acme", deployment\(\): /,
    next: /change the class to use only the files that it receives/,
  },
  {
    name: 'bad-config',
    what: 'a typo in `spec.config` of an operator',
    breaks: async (name) => {
      const bundle = smallBundles.find((each) => each.name === 'small-operator/1.0.0');
      const tree = loadDirectory(bundle?.directory(folder) ?? '', defaultLimits);
      const ref = `${registry}/e2e/${name}:v1`;
      const texts = Object.fromEntries(
        [...tree.files].map(([path, bytes]) => [path, Buffer.from(bytes).toString('utf8')]),
      );
      await pushImage({
        registry,
        repository: `e2e/${name}`,
        tag: 'v1',
        layers: [{ files: texts }],
      });
      await deploy(name, anImage(ref), {
        ...plainSpec('core-rukpak-io-registry', anImage(ref)),
        config: { watchNamespce: 'x' },
      });
    },
    reason: 'BundleLoadFailed',
    cause: /watchNamespce/,
    next: /correct spec\.config of BundleDeployment "bad-config"/,
  },
  {
    name: 'bad-yaml',
    what: 'a manifest that is not YAML',
    breaks: async (name) => {
      const layers = [{ files: { 'manifests/a.yaml': 'apiVersion: v1\nkind: [\n' } }];
      await pushImage({ registry, repository: `e2e/${name}`, tag: 'v1', layers });
      await deploy(name, anImage(`${registry}/e2e/${name}:v1`));
    },
    reason: 'UnpackFailed',
    cause: /manifests\/a\.yaml/,
    next: /correct line 3 of manifests\/a\.yaml/,
  },
  {
    name: 'missing-tag',
    what: 'a tag that was never pushed',
    breaks: async (name) => await deploy(name, anImage(`${registry}/e2e/${name}:v9`)),
    reason: 'UnpackPending',
    cause: /Back-off pulling image/,
    next: /push e2e\/missing-tag:v9/,
  },
  {
    name: 'registry-down',
    what: 'a registry that does not run',
    breaks: async (name) => {
      const [port] = await workerPorts(1);
      await deploy(name, anImage(`127.0.0.1:${port}/e2e/${name}:v1`));
    },
    reason: 'UnpackPending',
    cause: /connection refused/,
    next: /core cannot reach the server of its image source/,
  },
  {
    name: 'no-credentials',
    what: 'a private image without a pull secret',
    breaks: async (name) => await deploy(name, anImage(`${guarded.host}/e2e/${name}:v1`)),
    reason: 'UnpackFailed',
    cause: /denies access/,
    next: /kubectl create secret docker-registry/,
  },
  {
    name: 'wrong-password',
    what: 'a wrong password in the Secret of an http source',
    breaks: async (name) => {
      await kubectl.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'rukpak-system' },
        stringData: { username: 'alice', password: 'wrong' },
      });
      files.files.set('/a.tgz', await anArchive(plainFiles([aConfigMap(name)])));
      const http = { url: `${files.url}/a.tgz`, auth: { secret: { name } } };
      await deploy(name, { type: 'http', http });
    },
    reason: 'UnpackFailed',
    cause: /401/,
    next: /correct the credentials in Secret "wrong-password" in namespace rukpak-system/,
  },
  {
    name: 'untrusted-certificate',
    what: 'a server with an untrusted certificate',
    breaks: async (name) =>
      await deploy(name, { type: 'http', http: { url: `${expired.url}/a.tgz` } }),
    reason: 'UnpackFailed',
    cause: /certificate/,
    next: /make core trust the server: put its CA as ca\.crt/,
  },
  {
    name: 'missing-configmap',
    what: 'a missing ConfigMap',
    breaks: async (name) =>
      await deploy(name, { type: 'configMaps', configMaps: [{ configMap: { name: 'nowhere' } }] }),
    reason: 'UnpackFailed',
    cause: /nowhere/,
    next: /kubectl create configmap nowhere/,
  },
  {
    name: 'no-upload',
    what: 'a missing upload',
    breaks: async (name) => await deploy(name, { type: 'upload', upload: {} }),
    reason: 'AwaitingUpload',
    cause: /upload/,
    next: /rukpakctl run no-upload <directory>/,
  },
  {
    name: 'object-of-others',
    what: 'an object of another owner',
    breaks: async (name) => {
      await kubectl.apply(aConfigMap(name));
      await deploy(name, await content(name, aConfigMap(name)));
    },
    reason: 'InstallFailed',
    cause: /exists/,
    next: /these objects have other owners/,
  },
  {
    name: 'missing-kind',
    what: 'a kind without its CRD',
    breaks: async (name) => {
      const object = { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing', metadata: { name } };
      await deploy(name, await content(name, object));
    },
    reason: 'InstallFailed',
    cause: /no matches for kind/,
    next: /install the provider of the kinds/,
  },
  {
    name: 'deleted-namespace',
    what: 'a namespace that is being deleted',
    breaks: async (name) => {
      const finalizers = ['kubernetes'];
      const metadata = { name: 'breakage-gone' };
      await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata, spec: { finalizers } });
      const inside = { namespace: 'breakage-gone', finalizers: ['example.com/hold'] };
      const held = aConfigMap('held') as KubernetesObject;
      await kubectl.apply({ ...held, metadata: { ...held.metadata, ...inside } });
      await kubectl.deleteNamed('namespace', ['breakage-gone'], { wait: false });
      const object = aConfigMap(name) as KubernetesObject;
      const moved = { ...object, metadata: { name, namespace: 'breakage-gone' } };
      await deploy(name, await content(name, moved));
    },
    reason: 'InstallFailed',
    cause: /terminat|deleted/,
    next: /namespace "breakage-gone" is being deleted: wait until it is deleted/,
  },
  {
    name: 'immutable-field',
    what: 'an upgrade that changes an immutable field',
    breaks: async (name) => {
      await install(name, aDeployment(name));
      const changed = aDeployment(name) as KubernetesObject & { spec: { template: object } };
      const labels = { app: name, more: 'yes' };
      const spec = {
        ...changed.spec,
        selector: { matchLabels: labels },
        template: { ...changed.spec.template, metadata: { labels } },
      };
      await deploy(name, await content(name, { ...changed, spec }));
    },
    reason: 'UpgradeFailed',
    cause: /immutable/,
    next: /kubectl delete deployment\.apps immutable-field --namespace default/,
  },
  {
    name: 'account-without-rights',
    what: 'a ServiceAccount without permissions, set on an installed deployment',
    breaks: async (name) => {
      await install(name, aConfigMap(name));
      await kubectl.apply({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'breakage-team' },
      });
      const account = aServiceAccount('weak') as KubernetesObject;
      await kubectl.apply({ ...account, metadata: { name: 'weak', namespace: 'breakage-team' } });
      const serviceAccount = { name: 'weak', namespace: 'breakage-team' };
      await deploy(name, await content(`${name}-good`, aConfigMap(name)), { serviceAccount });
    },
    reason: 'PermissionsMissing',
    cause: /lacks permissions/,
    next: /review the output of "rukpakctl permissions account-without-rights --missing"/,
  },
  {
    name: 'homeless-pod',
    what: 'a Pod that no node can run',
    breaks: async (name) => {
      const object = aDeployment(name) as KubernetesObject & {
        spec: { template: { spec: object } };
      };
      const { template } = object.spec;
      const pod = { ...template.spec, nodeSelector: { 'example.com/none': 'none' } };
      const spec = { ...object.spec, template: { ...template, spec: pod } };
      await deploy(name, await content(name, { ...object, spec }));
    },
    reason: 'Unhealthy',
    cause: /InProgress: (?!.*waiting for)/,
    next: /kubectl describe deployment\.apps homeless-pod --namespace default/,
  },
];

/** The rows of the page's table, as they were seen. */
const rows: string[] = [];

test.each(breakages)('$name', async ({ name, what, breaks, reason, cause, next }) => {
  await breaks(name);
  const message = await eventually(async () => {
    const now = await ready(name);
    expect(now.reason).toBe(reason);
    expect(now.message).toMatch(cause);
    return now.message;
  });
  const get = await kubectl.must(['get', 'bundledeployment', name, '--no-headers']);
  expect(get).toMatch(new RegExp(` (?:False|Unknown) +${reason}\n$`));
  const described = await kubectl.must(['describe', 'bundledeployment', name]);
  expect(described).toMatch(new RegExp(`Reason: +${reason}\n`));
  const { stdout } = await rukpakctl(['status', name], { env: { KUBECONFIG: kubeconfig } });
  const [, cure = ''] = /^Next: (.*)$/m.exec(stdout) ?? [];
  expect(cure).toMatch(next);
  const cells = [what, `\`${get.trim().split(/ +/).slice(-2).join(' ')}\``, message, cure];
  rows.push(
    `| ${cells
      .map((cell) => cell.replaceAll('|', '\\|'))
      .map(settled)
      .join(' | ')} |`,
  );
});

const heading = '## Messages of twenty common failures\n';

test('the page has what was seen', async () => {
  expect(rows).toHaveLength(20);
  const text = await readFile(page, 'utf8');
  const [before = '', after = ''] = text.split(heading);
  const seen = [
    '| broken | `kubectl get` | `describe`: message of Ready | `rukpakctl status`: Next |',
    '|---|---|---|---|',
    ...rows,
  ];
  const table = after.replace(/(?:\| .*\n|\|---.*\n)+/, `${seen.join('\n')}\n`);
  if (process.env['RUKPAK_WRITE_PAGE'] === '1') await writeFile(page, before + heading + table);
  else expect(after).toBe(table);
});

/** Without what is another one each time: hashes, ports, and the folders of the test. */
function settled(text: string): string {
  return text
    .replaceAll(/\b([a-z-]+)-[0-9a-z]{25,}\b/g, '$1-…')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:5000')
    .replaceAll('<', '&lt;');
}
