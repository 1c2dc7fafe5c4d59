import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runManager } from '../../core/run-manager.ts';
import { defineProvisioner } from '../../core/sdk.ts';
import { eventually } from '../helpers/eventually.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

const namespace = `run-manager-${randomUUID().slice(0, 8)}`;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const stop = new AbortController();
let folder: string;
let running: Promise<void>;

/** Of this process. */
const here = defineProvisioner({
  className: 'run-manager-here',
  bundle: async (files) => files,
  deployment: async ({ files }, { metadata }) => [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `of-${metadata.name}`, namespace },
      data: { files: [...files.keys()].join() },
    },
  ],
});

/** Of a module that runs in processes of its own. */
const elsewhere = `export default {
  className: 'run-manager-elsewhere',
  contractVersion: 1,
  bundle: async (files) => files,
  deployment: async (files, { metadata }) => [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'of-' + metadata.name, namespace: '${namespace}' },
      data: { process: String(process.pid) },
    },
  ],
};`;

beforeAll(async () => {
  await installCrds(plane.kubeconfig);
  await kubectl.must(['create', 'namespace', namespace]);
  const from = ['--from-literal=a.txt=blue'];
  await kubectl.must(['create', 'configmap', 'colours', `--namespace=${namespace}`, ...from]);
  folder = await mkdtemp(join(tmpdir(), 'rukpak-run-manager-'));
  const module = join(folder, 'elsewhere.mjs');
  await writeFile(module, elsewhere);
  running = runManager(
    {
      provisioners: [here, pathToFileURL(module)],
      kubeconfig: plane.kubeconfig,
      systemNamespace: namespace,
      content: { directory: join(folder, 'bundles'), bindAddress: '127.0.0.1:0' },
      healthProbeBindAddress: '0',
      logger: silentLogger,
    },
    stop.signal,
  );
  // Whoever awaits it hears of a failure.
  running.catch(() => undefined);
});

afterAll(async () => {
  stop.abort();
  await running;
  await kubectl.deleteNamed('namespace', [namespace], { wait: false });
  await rm(folder, { recursive: true, force: true });
});

function aDeployment(className: string): string {
  return JSON.stringify({
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name: className },
    spec: {
      provisionerClassName: className,
      template: {
        metadata: {},
        spec: {
          provisionerClassName: className,
          source: { type: 'configMaps', configMaps: [{ configMap: { name: 'colours' } }] },
        },
      },
    },
  });
}

async function installed(className: string): Promise<Readonly<Record<string, string>>> {
  await kubectl.must(['apply', '-f', '-'], aDeployment(className));
  try {
    const name = `configmap/of-${className}`;
    return await eventually(async () => {
      const text = await kubectl.must(['get', name, `--namespace=${namespace}`, '--output=json']);
      return (JSON.parse(text) as { data: Record<string, string> }).data;
    });
  } finally {
    await kubectl.deleteNamed('bundledeployment', [className]);
    // Its class ends with the last test: then nobody could delete them.
    await eventually(async () => {
      expect(await kubectl.list('bundles')).toEqual([]);
    });
  }
}

it('installs what a class of this process makes', async () => {
  expect(await installed('run-manager-here')).toEqual({ files: 'a.txt' });
});

it('installs what a module makes, which runs in another process', async () => {
  const { process: id } = await installed('run-manager-elsewhere');
  expect(Number(id)).toBeGreaterThan(0);
  expect(Number(id)).not.toBe(process.pid);
});

it('holds a lease of its own, named after the classes', async () => {
  const lease = 'lease/run-manager-elsewhere.run-manager-here.core.rukpak.io';
  const holder = '--output=jsonpath={.spec.holderIdentity}';
  expect(await kubectl.must(['get', lease, `--namespace=${namespace}`, holder])).not.toBe('');
});
