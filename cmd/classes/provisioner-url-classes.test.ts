import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { answerWith, FakeClassServer } from '../../test/helpers/class-server.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { aBundleDeployment, aContext, bundleFiles } from '../../testing/index.ts';
import { openProvisionerUrls } from './provisioner-url-classes.ts';

const parts = { memory: ampleMemory(), logger: silentLogger };

function flags(url: string, credentials?: string) {
  const className = 'acme';
  return {
    provisionerUrl: [{ className, value: url }],
    provisionerUrlCredentials: credentials === undefined ? [] : [{ className, value: credentials }],
    provisionerUrlPlainHttp: [],
  };
}

test('a class is served although its server is not there', async () => {
  const opened = await openProvisionerUrls(flags('http://127.0.0.1:1'), ['plain'], parts);
  const [acme] = opened.provisioners;
  expect(acme?.className).toBe('acme');
  expect(acme).toMatchObject({ bundle: expect.any(Function), deployment: expect.any(Function) });
  await opened.close();
});

test.each([
  [flags('http://127.0.0.1:1'), ['acme'], 'class "acme" is served by this program itself already'],
  [flags('nowhere'), [], '--provisioner-url for class "acme": the URL must begin with https://'],
  [flags('https://acme', '/nowhere'), [], 'cannot use --provisioner-url-credentials "/nowhere"'],
])('what cannot be served is refused in one line (%#)', async (given, served, text) => {
  const error = await openProvisionerUrls(given, served, parts).catch((e: unknown) => e);
  expect((error as Error).message).toContain(text);
  expect((error as Error).message).not.toContain('\n');
});

test('answers that are not small are read in another process', { tags: 'process' }, async () => {
  const server = await FakeClassServer.start();
  const opened = await openProvisionerUrls(flags(server.url), [], parts);
  const { deployment } = opened.provisioners[0]!;
  const render = async (body: string): Promise<readonly KubernetesObject[]> => {
    server.answers.set('/v1/deployment', (response) =>
      answerWith(response, { type: 'application/yaml', body }),
    );
    const object = aBundleDeployment({ className: 'acme' });
    return await deployment!(bundleFiles({ a: 'a' }), object, aContext());
  };
  const text = 'x'.repeat(100_000);
  const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {text: ${text}}\n`;
  expect(await render(manifest)).toMatchObject([{ metadata: { name: 'a' }, data: { text } }]);
  const name = `class "acme" at ${server.url}: `;
  await expect(render(`${manifest}---\n[`)).rejects.toThrow(`${name}error parsing answer.yaml: `);
  await opened.close();
  await server.stop();
});
