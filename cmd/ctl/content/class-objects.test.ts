import { expect, onTestFinished, test, vi } from 'vitest';
import {
  type Bundle,
  type BundleFiles,
  defaultLimits,
  type Provisioner,
} from '../../../core/sdk.ts';
import { anObject, aTree } from '../../../test/helpers/registry-bundle.ts';
import { aBundleDeployment } from '../../../testing/index.ts';
import { classObjects, offlineObjects, validateOffline } from './class-objects.ts';

test('objects that a third party’s class leaves out are not rendered', async () => {
  const kept = anObject('ConfigMap');
  const annotations = { 'core.rukpak.io/left-out': 'it is a sample' };
  const sample = { ...anObject('Secret'), metadata: { name: 'a', annotations } };
  const acme = { className: 'acme', deployment: async () => [kept, sample] };
  expect(await offlineObjects(aTree({}), acme)).toEqual([kept]);
});

const acme: Provisioner = { className: 'acme', bundle: async (files) => files };
const config = { to: 'you' };

test('a config that no class would use is refused, as core does', async () => {
  const files = aTree({ 'manifests/a.json': JSON.stringify(anObject('ConfigMap')) });
  expect(await offlineObjects(files, acme)).toHaveLength(1);
  await expect(offlineObjects(files, acme, { config })).rejects.toThrow(
    'spec.config cannot be applied to content of class "acme": the class has no handler "configure". Add the handler to the class, or remove spec.config',
  );
});

test('a Bundle says that its content will be adapted, as in a cluster', async () => {
  const seen: Bundle['metadata']['annotations'][] = [];
  const bundle = async (files: BundleFiles, { metadata }: Bundle) => {
    seen.push(metadata.annotations);
    return files;
  };
  const configure = async (files: BundleFiles) => files;
  const deployment = async () => [];
  await offlineObjects(aTree({}), { ...acme, bundle, configure, deployment }, { config });
  await offlineObjects(aTree({}), { ...acme, bundle, configure, deployment });
  await offlineObjects(aTree({}), { ...acme, bundle, deployment }, { config });
  expect(seen).toEqual([{ 'core.rukpak.io/configured': 'true' }, undefined, undefined]);
});

test.each(['bundle', 'deployment'])('a handler %s() that does not end is refused', async (name) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const never = async () => await new Promise<never>(() => undefined);
  const slow = { className: 'acme', [name]: never };
  const found = validateOffline(aTree({}), slow, {});
  await vi.advanceTimersByTimeAsync(defaultLimits.timeout * 1.05);
  expect((await found).problems).toEqual([
    {
      severity: 'error',
      message: `class "acme", ${name}(): took longer than the limit of 120 s (--content-timeout of core; rukpakctl uses its default)`,
      fix: 'correct the bundle, or its class',
    },
  ]);
});

test('each class gets the facts that it declares, and no others', async () => {
  const given: Record<string, readonly string[]> = {};
  const note =
    <T>(name: string, result: (files: BundleFiles) => T) =>
    async (files: BundleFiles, _: unknown, context: object) => {
      given[name] = Object.keys(context).filter((key) => ['cluster', 'seed'].includes(key));
      return result(files);
    };
  const cluster = { version: 'v1.36.3', apiVersions: [], systemNamespace: 'a' };
  const facts = async (_: unknown, uses: ReadonlySet<string>) => {
    given['both'] = [...uses];
    return { inputs: [], cluster, seed: new Uint8Array(32) };
  };
  await classObjects({
    files: aTree({}),
    bundleClass: { ...acme, uses: ['seed'], configure: note('configure', (files) => files) },
    deploymentClass: { className: 'other', deployment: note('deployment', () => []) },
    deployment: aBundleDeployment({ className: 'other', bundleClassName: 'acme' }),
    facts,
    signal: new AbortController().signal,
  });
  expect(given).toEqual({ both: ['seed'], configure: ['seed'], deployment: [] });
});
