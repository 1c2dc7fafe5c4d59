import { expect, test } from 'vitest';
import { answerJson } from '../../../test/helpers/class-server.ts';
import {
  RemoteClassFixture,
  thrownBy,
  unchanged,
} from '../../../test/helpers/remote-class-fixture.ts';
import { aContext } from '../../../testing/index.ts';
import { createRemoteProvisioner } from '../run-remote.ts';

test.each([
  ['ftp://a', 'the URL must begin with https:// or http://'],
  ['here', 'the URL must begin with https:// or http://'],
  ['https://me:secret@a', 'the URL must not hold credentials'],
  ['https://a/?b=c', 'the URL must not have a "?" or "#"'],
  [
    'http://acme.acme.svc',
    'http:// is for servers on this machine, such as a sidecar: use https:// for acme.acme.svc, or allow it with --provisioner-url-plain-http=acme',
  ],
])('%s is refused', async (url, text) => {
  const error = await thrownBy(createRemoteProvisioner({ className: 'acme', url }));
  expect(error.message).toContain(`--provisioner-url for class "acme": ${text}`);
  expect(error.message).not.toContain('secret');
});

test('a class that nobody could name is refused', async () => {
  const creating = createRemoteProvisioner({ className: 'Acme', url: 'https://a' });
  await expect(creating).rejects.toThrow('class "Acme": a class name has lower-case letters');
});

test.each([
  ['http://localhost:1', false],
  ['http://[::1]:1', false],
  ['http://acme.acme.svc', true],
])('%s is taken (plain HTTP allowed: %s)', async (url, plainHttp) => {
  const made = await createRemoteProvisioner({ className: 'acme', url, plainHttp });
  expect(made.className).toBe('acme');
  await made.close();
});

test('an address may have a path', async () => {
  const fixture = await RemoteClassFixture.start();
  const { server, files, bundle } = fixture;
  fixture.answering('/classes/acme/v1/class', (response) =>
    answerJson(response, server.description),
  );
  fixture.answering('/classes/acme/v1/bundle', unchanged);
  const url = `${server.url}/classes/acme`;
  const made = await createRemoteProvisioner({ className: 'acme', url });
  expect(await made.bundle!(files, bundle, aContext())).toBe(files);
  await made.close();
  await fixture.stop();
});
