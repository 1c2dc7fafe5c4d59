// @module-tag long
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually, patiently } from '../helpers/eventually.ts';
import { everyObject, nothingIsLeft } from '../helpers/every-object.ts';
import { HelmCommand } from '../helpers/helm/helm-command.ts';
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
const page = 'install.md';
const overlay = 'release/kustomize/overlays/self-signed';
const installChart =
  'helm install rukpak release/rukpak-<version>.tgz --namespace rukpak-system --create-namespace';
const uninstallChart = 'helm uninstall rukpak';

let release: Release;
let image: UnpackedImage;
let helm: HelmCommand;
let system: InClusterSystem | undefined;
/** By their names, before anything was installed. */
let before: ReadonlySet<string>;

beforeAll(async () => {
  release = await Release.shared();
  helm = await HelmCommand.create();
  image = await UnpackedImage.pull(await release.image());
  installReleased({ manifest: release.path('install.yaml'), image });
  // Files before may have left any of it.
  const all = release.path('kustomize/overlays/operators-with-dependencies');
  await (await SelfSignedOverlay.render(kubectl, all)).remove();
  before = new Set((await everyObject(kubectl)).keys());
});

afterEach(async () => {
  await system?.remove();
});

afterAll(async () => {
  installReleased(undefined);
  await image?.remove();
  await helm?.remove();
});

interface Way {
  /** As the howto has it. */
  readonly install: string;
  /** In the howto's block that uninstalls this way. */
  readonly block: string;
}

const ways: Readonly<Record<string, Way>> = {
  'install.yaml': {
    install: 'kubectl apply --server-side -f release/install.yaml',
    block: 'kubectl delete -f release/install.yaml',
  },
  'an overlay': {
    install: `kubectl apply --server-side -k ${overlay}`,
    block: `kubectl delete -k ${overlay}`,
  },
  'the chart': { install: installChart, block: uninstallChart },
};

async function follow(line: string): Promise<void> {
  const files = Object.fromEntries(
    ['install.yaml', 'kustomize/overlays/self-signed', 'rukpak-<version>.tgz'].map((name) => [
      `release/${name}`,
      release.path(name.replace('<version>', release.version)),
    ]),
  );
  await runCommand({ page, kubectl, kubeconfig, helm, files }, line);
}

async function install(command: string): Promise<void> {
  expect(await readFile(join('docs/howto', page), 'utf8')).toContain(`\`${command}\``);
  await follow(command);
}

/** As the howto has it. The pods end as soon as a Deployment is gone: nothing later needs them. */
async function uninstall(block: string, running?: InClusterSystem): Promise<void> {
  const ended = eventually(async () => {
    expect(await kubectl.exists('deployment', 'core', 'rukpak-system')).toBe(false);
  }, patiently).then(() => running?.stop());
  for (const line of await howtoBlock(page, block)) await follow(line);
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
    await install(way.install);
    const running = await InClusterSystem.prepare({ kubectl, registry });
    system = running;
    await running.startWebhooks([], async () => {});
    await running.startCrdvalidator();
    await running.startCore();
    await isInstalled();
    await uninstall(way.block, running);
    await nothingIsLeft(kubectl, before);
  });

  test('the chart with OLM 1.0, whose CRDs are four more', async () => {
    const values = '--set operators.enabled=true --set operators.installDependencies=true';
    await follow(`${installChart} ${values}`);
    // No webhook answers here, which would have to allow the deletions.
    const guards = ['rukpak-validating-webhook-configuration', 'crd-validation-webhook'];
    await kubectl.deleteNamed('validatingwebhookconfigurations', guards);
    await uninstall(uninstallChart);
    await nothingIsLeft(kubectl, before);
  });
});
