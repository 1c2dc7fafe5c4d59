import { dirname } from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { addOperatorsFlags, type OperatorsFlags } from '../../cmd/flags/operators-flags.ts';
import { installManifests } from '../../deploy/install-manifests.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { containerArgs, podSpecOf } from '../helpers/local-pod.ts';
import { plane } from '../helpers/plane.ts';
import { renderWithComponent } from '../helpers/render-overlay.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });

test.each(['self-signed', 'cert-manager'])('OLM 1.0 can be added to %s', async (name) => {
  const suffix = name === 'cert-manager' ? '-cert-manager' : '';
  const objects = await renderWithComponent(kubectl, name, `operators${suffix}`);
  const find = (kind: string, of: string) =>
    objects.find((each) => each.kind === kind && each.metadata.name === of);
  const deployment = find('Deployment', 'rukpak-operators') as KubernetesObject;
  const [command, ...args] = containerArgs(deployment);
  expect(command).toBe('operators');
  const flags: OperatorsFlags = addOperatorsFlags(new Command())
    .parse(args, { from: 'user' })
    .opts();
  const { containers, volumes = [] } = podSpecOf(deployment);
  const [{ ports, volumeMounts = [] }] = containers;
  const port = Object.fromEntries(ports.map((each) => [each.name, each.containerPort]));
  expect(flags).toMatchObject({
    leaderElect: true,
    catalogsServerAddr: `:${port['https']}`,
    healthProbeBindAddress: `:${port['health']}`,
    metricsBindAddress: `:${port['metrics']}`,
    httpExternalAddress: 'https://rukpak-catalogs.rukpak-system.svc',
  });
  const service = find('Service', 'rukpak-catalogs');
  expect(service?.['spec']).toMatchObject({ ports: [{ targetPort: port['https'] }] });
  const mounts = volumeMounts.map(({ mountPath }) => mountPath);
  expect(mounts).toContain(flags.cacheDir);
  expect(mounts).toContain(dirname(flags.tlsCert ?? ''));
  const issued = JSON.stringify([
    find('Deployment', 'rukpak-webhooks'),
    find('Certificate', 'rukpak-catalogs'),
  ]);
  expect(JSON.stringify(volumes)).toContain('"rukpak-catalogs-cert"');
  expect(issued).toContain('rukpak-catalogs-cert');
  expect(issued).toContain('rukpak-catalogs.rukpak-system.svc');
  expect(args).not.toContain('--install-dependencies');
  const rendered = new Set(objects.map(id));
  for (const object of installManifests({ operators: true }))
    expect(rendered).toContain(id(object));
});

test.each(['', '-cert-manager'])('dependencies can be added to operators%s', async (suffix) => {
  const overlay = suffix === '' ? 'self-signed' : 'cert-manager';
  const components = [`operators${suffix}`, 'install-dependencies'];
  const objects = await renderWithComponent(kubectl, overlay, ...components);
  const deployment = objects.find((each) => id(each) === 'Deployment rukpak-operators');
  expect(containerArgs(deployment as KubernetesObject)).toContain('--install-dependencies');
  const rendered = new Set(objects.map(id));
  for (const object of installManifests({ operators: true, installDependencies: true }))
    expect(rendered).toContain(id(object));
});

function id({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}
