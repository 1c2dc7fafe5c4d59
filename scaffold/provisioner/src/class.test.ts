import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aBundleDeployment, aContext, bundleFiles, describeProvisioner } from 'rukpak-ts/testing';
import provisioner from './class.ts';

const pages = {
  'about.html': '<h1>About</h1>',
  'index.html': '<h1>Hello</h1>',
  'style.css': 'h1 { color: teal }',
};

// What every class has to hold to: the same input gives the same objects, an abort is heeded, bad
// content ends in a TerminalError, and nothing is read or reached but what the class was given.
describeProvisioner(
  provisioner,
  {
    bundles: [{ name: 'pages', files: pages, stored: pages }],
    deployments: [
      { name: 'pages', files: pages },
      { name: 'settings', files: pages, config: { namespace: 'web', replicas: 3 } },
    ],
    refused: [
      { name: 'no first page', files: { 'about.html': '' }, message: /^index\.html is missing/ },
      { name: 'a folder', files: { ...pages, 'a/b.html': '' }, message: /^a\/b\.html cannot be/ },
      {
        name: 'more than a ConfigMap holds',
        files: { 'index.html': new Uint8Array(900_001) },
        message: 'the pages have 900001 bytes: 900000 is the most there may be',
      },
    ],
  },
  { test },
);

test('other pages are other pods, other replicas are not', async () => {
  const before = await podAnnotations(pages, {});
  assert.deepEqual(await podAnnotations(pages, { replicas: 2 }), before);
  assert.notDeepEqual(await podAnnotations({ 'index.html': '<h1>Bye</h1>' }, {}), before);
});

test('a setting that is misspelt is refused, not ignored', async () => {
  await assert.rejects(render(pages, { replica: 2 }), {
    message: 'spec.config.replica is unknown: there are namespace and replicas',
  });
});

async function render(files: Readonly<Record<string, string>>, config: Record<string, unknown>) {
  const deployment = aBundleDeployment({ className: 'example-class', config });
  assert.ok(provisioner.deployment);
  return await provisioner.deployment(bundleFiles(files), deployment, aContext());
}

async function podAnnotations(files: Record<string, string>, config: Record<string, unknown>) {
  const objects = await render(files, config);
  const workload = objects.find(({ kind }) => kind === 'Deployment');
  const spec = workload?.['spec'] as { template: { metadata: { annotations: unknown } } };
  return spec.template.metadata.annotations;
}
