import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { FakeClassServer } from '../../../test/helpers/class-server.ts';
import { aBundle, aBundleDeployment, aContext, bundleFiles } from '../../../testing/index.ts';
import { contractVersion } from '../../contracts/provisioner.ts';
import { createRemoteProvisioner } from '../run-remote.ts';
import { classDescriptionSchema } from './class-server.ts';

interface OpenApi {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, DocumentedSchema>> };
}

interface DocumentedSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The page that others write their servers by. */
async function document(): Promise<OpenApi> {
  const path = join(import.meta.dirname, '../../../docs/provisioner-http-v1.yaml');
  return parse(await readFile(path, 'utf8')) as OpenApi;
}

test('the document has what is asked, and nothing else', async () => {
  const handlers = ['bundle', 'configure', 'deployment', 'inputs'];
  const server = await FakeClassServer.start({ description: { handlers } });
  const provisioner = await createRemoteProvisioner({ className: 'acme', url: server.url });
  const files = bundleFiles({ a: 'a' });
  const deployment = aBundleDeployment({ className: 'acme' });
  for (const call of [
    () => provisioner.bundle!(files, aBundle({ className: 'acme' }), aContext()),
    () => provisioner.configure!(files, deployment, aContext()),
    () => provisioner.deployment!(files, deployment, aContext()),
    () => provisioner.inputs!(deployment, aContext()),
  ]) {
    await expect(call()).rejects.toThrow('answered 404 Not Found');
  }
  await provisioner.close();
  await server.stop();
  const { paths } = await document();
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const asked = new Set(server.received.map(({ call }) => call));
  expect([...asked].sort()).toEqual(documented.sort());
});

test('a description of the document is one that we read', async () => {
  const { components, info } = await document();
  const { required, properties } = components.schemas['Class']!;
  expect(Object.keys(properties).sort()).toEqual(Object.keys(classDescriptionSchema.shape).sort());
  expect(properties['contractVersion']).toEqual({ const: contractVersion });
  expect(info.version).toBe(String(contractVersion));
  const items = (name: string) => (properties[name]!['items'] as { enum: string[] }).enum;
  const least = { contractVersion, className: 'acme', handlers: items('handlers') };
  expect(Object.keys(least).sort()).toEqual([...required].sort());
  expect(classDescriptionSchema.parse({ ...least, uses: items('uses') })).toBeDefined();
});

test.each(['configure', 'deployment'] as const)(
  'what is sent for %s is what the document says of it',
  async (handler) => {
    const description = { handlers: ['bundle', handler], uses: ['cluster', 'seed'] };
    const server = await FakeClassServer.start({ description });
    const provisioner = await createRemoteProvisioner({ className: 'acme', url: server.url });
    const deployment = aBundleDeployment({ className: 'acme' });
    const context = aContext({ inputs: [undefined, Buffer.from('x')], installed: true });
    await provisioner[handler]!(bundleFiles({ a: 'a' }), deployment, context).catch(
      () => undefined,
    );
    await provisioner.close();
    await server.stop();
    const sent = JSON.parse(server.received[1]?.files['context.json'] ?? '{}') as object;
    const { properties } = (await document()).components.schemas['Context']!;
    expect(Object.keys(sent).sort()).toEqual(Object.keys(properties).sort());
    const limits = properties['limits']?.['required'] as string[];
    expect(Object.keys(context.limits).sort()).toEqual([...limits].sort());
  },
);
