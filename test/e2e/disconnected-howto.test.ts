// @module-tag long
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { MirrorRegistries } from '../helpers/mirror-registries.ts';
import { pushTestCatalog } from '../helpers/mirrored-catalog.ts';
import { plane } from '../helpers/plane.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';

const { kubeconfig } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const operators = 'operators.operators.operatorframework.io';
const root = join(import.meta.dirname, '../..');

let registries: MirrorRegistries;
let dir: string;
let system: InClusterSystem;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-disconnected-howto-'));
  registries = await MirrorRegistries.start();
  await registries.nextTest();
  // The overlays of a release are those of the checkout, with another image.
  await mkdir(join(dir, 'release'));
  await symlink(join(root, 'deploy'), join(dir, 'release/kustomize'));
});

afterAll(async () => {
  await kubectl.deleteAll(operators, { ignoreNotFound: true });
  await kubectl.deleteAll('catalogs', { ignoreNotFound: true });
  await system?.remove();
  await registries?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** What the page shows as YAML with this kind, as a file. */
async function shownFile(kind: string, file: string): Promise<string> {
  const page = await readFile(join(root, 'docs/howto/disconnected.md'), 'utf8');
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const [block, ...more] = blocks.filter((each) => each.includes(`kind: ${kind}\n`));
  if (block === undefined || more.length > 0) throw new Error(`the page shows no one ${kind}`);
  await writeFile(join(dir, file), block);
  return join(dir, file);
}

test('from a filled mirror to a running operator, where only the mirror can be reached', async () => {
  const { source, mirror, flags } = registries;
  const web = { name: 'web-operator', versions: ['1.0.0', '1.1.0'] };
  const catalog = await pushTestCatalog({ registry: source, catalog: 'example/catalog:v1' }, [web]);
  const config = await registries.imageSet({ operators: [{ catalog }] });
  const results = join(dir, 'mirror-results');
  const target = ['--to', `${mirror}/ocp`, '--results', results];
  const filled = await rukpakctl(['mirror', '--config', config, ...target, ...flags]);
  expect(filled.code, filled.stderr).toBe(0);
  await registries.stopSource();

  const overlay = join(dir, 'mine');
  await mkdir(overlay);
  await shownFile('Kustomization', 'mine/kustomization.yaml');
  await cp(join(results, 'registries.conf'), join(overlay, 'registries.conf'));
  system = await InClusterSystem.prepare({ kubectl, registry: plane.registry, overlay });
  await system.overlay.remove();
  const files = {
    mine: overlay,
    'mirror-results/catalog.yaml': join(results, 'catalog.yaml'),
    'web-operator.yaml': await shownFile('Operator', 'web-operator.yaml'),
  };
  const howto = { page: 'disconnected.md', kubectl, kubeconfig, files };
  const applied = await followHowto(howto, 'Mirrors');
  expect(applied).toContain('deployment "rukpak-operators" successfully rolled out');

  await system.startWebhooks();
  await system.startCore();
  await system.startOperators();
  const output = await followHowto(howto, 'Install from the mirror');
  expect(output).toMatch(/web-operator +\S+ +1\.1\.0 +1\.1\.0 +True +Healthy/);
  await eventually(async () => {
    const owned = 'core.rukpak.io/owner-name=web-operator';
    expect(await kubectl.list('deployments', owned)).toHaveLength(1);
  });
});
