import { expect, test } from 'vitest';
import { silentLogger } from '../test/helpers/silent-logger.ts';
import { openProvisionerUrls } from './provisioner-url-classes.ts';

function flags(url: string, credentials?: string) {
  const className = 'acme';
  return {
    provisionerUrl: [{ className, value: url }],
    provisionerUrlCredentials: credentials === undefined ? [] : [{ className, value: credentials }],
    provisionerUrlPlainHttp: [],
  };
}

test('a class is served although its server is not there', async () => {
  const opened = await openProvisionerUrls(flags('http://127.0.0.1:1'), ['plain'], silentLogger);
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
  const error = await openProvisionerUrls(given, served, silentLogger).catch((e: unknown) => e);
  expect((error as Error).message).toContain(text);
  expect((error as Error).message).not.toContain('\n');
});
