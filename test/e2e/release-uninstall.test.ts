// @module-tag long
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually, patiently } from '../helpers/eventually.ts';
import { everyObject } from '../helpers/every-object.ts';
import { howtoBlock, runCommand } from '../helpers/howto.ts';
import { InClusterSystem, installReleased } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { Release } from '../helpers/release.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { SelfSignedOverlay } from '../helpers/self-signed-overlay.ts';
import { UnpackedImage } from '../helpers/unpacked-image.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const name = 'released';

let release: Release;
let image: UnpackedImage;
let system: InClusterSystem | undefined;
/** By their names, before anything was installed. */
let before: ReadonlySet<string>;

beforeAll(async () => {
  release = await Release.shared();
  image = await UnpackedImage.pull(await release.image());
  installReleased({ manifest: release.path('install.yaml'), image });
  await (await SelfSignedOverlay.read(kubectl, release.path('install.yaml'))).remove();
  before = new Set((await everyObject(kubectl)).keys());
});

afterEach(async () => {
  await system?.remove();
});

afterAll(async () => {
  await image?.remove();
});

interface Way {
  /** In the howto's block that uninstalls this way. */
  readonly block: string;
  readonly install: () => Promise<unknown>;
}

const ways: Readonly<Record<string, Way>> = {
  'install.yaml': {
    block: 'kubectl delete -f release/install.yaml',
    install: () => kubectl.must(['apply', '--server-side', '-f', release.path('install.yaml')]),
  },
};

/** As the howto has it. The pods end as soon as a Deployment is gone: nothing later needs them. */
async function uninstall({ block }: Way, running: InClusterSystem): Promise<void> {
  const ended = eventually(async () => {
    expect(await kubectl.exists('deployment', 'core', 'rukpak-system')).toBe(false);
  }, patiently).then(() => running.stop());
  const files = { 'release/install.yaml': release.path('install.yaml') };
  for (const line of await howtoBlock('install.md', block)) {
    await runCommand({ page: 'install.md', kubectl, kubeconfig, files }, line);
  }
  await ended;
}

async function isInstalled(): Promise<void> {
  const place = { kubectl, registry, prefix: 'release-uninstall' };
  await rollOutPlain(place, { name, objects: [aConfigMap(name)] });
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')?.status).toBe('True');
  }, patiently);
}

describe('nothing of the release is left after the howto’s uninstallation of', () => {
  test.each(Object.entries(ways))('%s', async (_, way) => {
    await way.install();
    const running = await InClusterSystem.prepare({ kubectl, registry });
    system = running;
    await running.startWebhooks([], async () => {});
    await running.startCrdvalidator();
    await running.startCore();
    await isInstalled();
    await uninstall(way, running);
    await eventually(async () => {
      const there = [...(await everyObject(kubectl)).keys()];
      expect(there.filter((each) => !before.has(each))).toEqual([]);
    }, patiently);
  });
});
