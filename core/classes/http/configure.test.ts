import { afterEach, beforeEach, expect, test } from 'vitest';
import { answerJson, answerWith, jsonIn } from '../../../test/helpers/class-server.ts';
import {
  RemoteClassFixture,
  thrownBy,
  unchanged,
} from '../../../test/helpers/remote-class-fixture.ts';
import { aContext } from '../../../testing/index.ts';
import { defaultLimits, tarParts } from '../../content/index.ts';
import { TerminalError, WaitingError } from '../../errors.ts';

let fixture: RemoteClassFixture;

beforeEach(async () => {
  fixture = await RemoteClassFixture.start();
});

afterEach(() => fixture.stop());

function adapting(uses: readonly string[] = []): void {
  fixture.describing({ handlers: ['bundle', 'configure'], uses });
}

function answerTar(path: string, text: string): void {
  const body = Buffer.concat([...tarParts([{ path, content: Buffer.from(text) }])]);
  fixture.answering('/v1/configure', (response) =>
    answerWith(response, { type: 'application/x-tar', body }),
  );
}

test('a server that does not offer it is not asked, and content stays as it is stored', async () => {
  expect(await fixture.handleConfigure()).toBe(fixture.files);
  expect(fixture.server.received.map(({ call }) => call)).toEqual(['GET /v1/class']);
});

test('a server that does not offer it fails where spec.config of another class would be ignored', async () => {
  Object.assign(fixture.deployment.spec, { provisionerClassName: 'core-rukpak-io-plain' });
  const error = await thrownBy(fixture.handleConfigure());
  expect(error.message).toMatch(
    /^spec\.config cannot be applied to content of class "acme": .* has no handler "configure"\. Add the handler to the class, or remove spec\.config$/,
  );
});

test('content is that of a tar in the answer', async () => {
  adapting();
  answerTar('new.txt', 'three');
  const { files } = await fixture.handleConfigure();
  expect([...files].map(([path, text]) => [path, Buffer.from(text).toString()])).toEqual([
    ['new.txt', 'three'],
  ]);
});

test('content stays as it is stored for a 204', async () => {
  adapting();
  fixture.answering('/v1/configure', unchanged);
  expect(await fixture.handleConfigure()).toBe(fixture.files);
});

test('it is given the deployment, the content, and of the facts those that the class uses', async () => {
  adapting(['seed']);
  fixture.answering('/v1/configure', unchanged);
  await fixture.handleConfigure();
  const [, posted] = fixture.server.received;
  expect(posted?.call).toBe('POST /v1/configure');
  expect(posted?.files['content/b/c.txt']).toBe('two');
  expect(jsonIn(posted!, 'object.json')).toEqual(fixture.deployment);
  expect(jsonIn(posted!, 'context.json')).toEqual({
    limits: defaultLimits,
    inputs: [],
    seed: Buffer.from(aContext().seed!).toString('base64'),
  });
});

test.each(['handleConfigure', 'handleDeployment'] as const)(
  '%s tells what is installed',
  async (handle) => {
    fixture.describing({ handlers: ['bundle', 'configure', 'deployment'] });
    fixture.answering('/v1/configure', unchanged);
    fixture.answering('/v1/deployment', (response) => answerJson(response, []));
    await fixture[handle](aContext({ installed: true }));
    await fixture[handle]();
    const [, first, second] = fixture.server.received;
    expect(jsonIn(first!, 'context.json')).toMatchObject({ installed: true });
    expect(jsonIn(second!, 'context.json')).not.toHaveProperty('installed');
  },
);

test('a fact that the class was not known to use is waited for', async () => {
  adapting(['cluster']);
  const { cluster: _, ...context } = aContext();
  const error = await thrownBy(fixture.handleConfigure(context));
  expect(error).toBeInstanceOf(WaitingError);
  expect(error.message).toContain('now uses "cluster": core retries with it');
});

test('a refusal by 422 ends the tries', async () => {
  adapting();
  fixture.answering('/v1/configure', (response) =>
    answerJson(response, { message: 'spec.config.a: not supported' }, 422),
  );
  const error = await thrownBy(fixture.handleConfigure());
  expect(error).toBeInstanceOf(TerminalError);
  expect(error.message).toBe(`class "acme" at ${fixture.server.url}: spec.config.a: not supported`);
});

test.each([
  ['../x', 'x', 'archive has an entry that leaves the bundle: "../x"'],
  ['x', 'x'.repeat(2_000), 'archive unpacks to more than the limit of 1000 bytes'],
])('an answer with %s that is no content is tried again later', async (path, text, problem) => {
  adapting();
  answerTar(path, text);
  const limits = { ...defaultLimits, maxBytes: 1_000 };
  const error = await thrownBy(fixture.handleConfigure(aContext({ limits })));
  expect(error.message).toContain(`class "acme" at ${fixture.server.url}: ${problem}`);
  expect(error).not.toBeInstanceOf(TerminalError);
});

test('a server that does not answer in time is told of', async () => {
  adapting();
  fixture.answering('/v1/configure', () => undefined);
  const limits = { ...defaultLimits, timeout: 300 };
  await expect(fixture.handleConfigure(aContext({ limits }))).rejects.toThrow(
    `class "acme" at ${fixture.server.url} took longer than the limit of 0.3 s (--content-timeout)`,
  );
});
