import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { aKeptBundle, BundleFixture, tree } from '../../test/helpers/bundle-fixture.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import { defineSource, type Source, type SourceDefinition, TerminalError } from '../sdk.ts';
import { unresolvedNote } from './fetch/pin.ts';

const schema = z.object({ bucket: z.string(), version: z.string().optional() });
type Parameters = z.infer<typeof schema>;

const fetch = vi.fn<SourceDefinition<Parameters>['fetch']>(async ({ version = 'v1' }) => ({
  files: tree,
  pin: version,
}));
const acme = defineSource({
  type: 'acme-s3',
  parameters: schema,
  pin: 'version',
  host: () => new URL('https://s3.example'),
  shareable: true,
  fetch,
});
const sources = new Map([[acme.type, acme]]);
const bucket = { bucket: 'a' };

function anAcme(parameters: Record<string, unknown> = bucket) {
  return { type: 'acme-s3', parameters };
}

test('a Bundle of it is fetched once, and from its pin when the content is lost', async () => {
  fetch.mockClear();
  const fixture = new BundleFixture(aStoredBundle({ source: anAcme() }), { sources });
  await fixture.reconcile();
  expect(fixture.live.metadata.annotations?.[annotation.pin]).toBe('v1');
  expect(fixture.status).toMatchObject({
    phase: 'Unpacked',
    resolvedSource: anAcme({ bucket: 'a', version: 'v1' }),
  });
  fetch.mockImplementation(async ({ version = 'v2' }) => ({ files: tree, pin: version }));
  await fixture.reconcile();
  expect(fetch).toHaveBeenCalledTimes(1);
  await fixture.store.delete({ name: 'demo', uid: 'uid-of-demo' });
  await fixture.reconcile();
  expect(fetch.mock.lastCall?.[0]).toEqual({ bucket: 'a', version: 'v1' });
  expect(fixture.status.phase).toBe('Unpacked');
});

test('a status that names other content is put right', async () => {
  const fixture = new BundleFixture(aStoredBundle({ source: anAcme() }), { sources });
  await fixture.reconcile();
  const resolvedSource = anAcme({ bucket: 'a', version: 'evil' });
  fixture.change({ ...fixture.live, status: { ...fixture.live.status, resolvedSource } });
  await fixture.store.delete({ name: 'demo', uid: 'uid-of-demo' });
  await fixture.reconcile();
  expect(fixture.status.resolvedSource).not.toEqual(resolvedSource);
  expect(fetch.mock.lastCall?.[0].version).not.toBe('evil');
});

test('content without a pin is not stored: core retries, and unpacks it once it has one', async () => {
  const fixture = new BundleFixture(aStoredBundle({ source: anAcme() }), { sources });
  fetch.mockImplementationOnce(async () => ({ files: tree, pin: '' }));
  expect(await fixture.failure()).toBeInstanceOf(Error);
  expect(fixture.live.metadata.annotations?.[annotation.pin]).toBe('');
  expect(fixture.status.phase).toBe('Failing');
  expect(fixture.status.conditions?.[0]?.message).toBe(
    'source bundle content: source type "acme-s3" returned content without a pin: its parameter "version" must be a non-empty string, but is ""',
  );
  expect(await fixture.store.has({ name: 'demo', uid: 'uid-of-demo' })).toBe(false);
  await fixture.reconcile();
  expect(fixture.status.phase).toBe('Unpacked');
});

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** A source that was not made with `defineSource`. */
function anOwn(resolved: Record<string, unknown>): Source {
  return {
    type: 'acme-s3',
    pin: {
      of: ({ parameters }) => text(parameters?.['version']),
      at: ({ type, parameters }, version) => ({ type, parameters: { ...parameters, version } }),
      place: ({ parameters }) => text(parameters?.['bucket']),
    },
    host: () => undefined,
    shareable: false,
    fetch: async () => ({ files: tree, resolvedSource: anAcme(resolved) }),
  };
}

const unnamed =
  'source type "acme-s3" returned content without a pin: its resolvedSource must have one, and the place of spec.source';

test.each([
  { what: 'has no pin', resolved: bucket, note: '', why: unnamed },
  { what: 'is of another place', resolved: { bucket: 'b', version: 'v1' }, note: '', why: unnamed },
  {
    what: 'has another pin than the one that core asked for',
    resolved: { ...bucket, version: 'v2' },
    note: 'v1',
    why: 'source type "acme-s3" returned other content than core asked for: it has the pin "v2", but the pin of this Bundle is "v1"',
  },
])('content that $what is not stored, whatever source it comes from', async (each) => {
  const own = anOwn(each.resolved);
  const metadata = { annotations: { [annotation.pin]: each.note } };
  const fixture = new BundleFixture(aKeptBundle({ source: anAcme(), metadata }), {
    sources: new Map([[own.type, own]]),
  });
  const failure = await fixture.failure();
  expect(failure).toBeInstanceOf(Error);
  expect(failure).not.toBeInstanceOf(TerminalError);
  expect(fixture.status.conditions?.[0]?.message).toBe(`source bundle content: ${each.why}`);
  expect(fixture.live.metadata.annotations?.[annotation.pin]).toBe(each.note);
  expect(await fixture.store.has({ name: 'demo', uid: 'uid-of-demo' })).toBe(false);
});

test('Failing for parameters that its schema refuses, by their fields', async () => {
  const source = anAcme({ bucket: 1 });
  const fixture = new BundleFixture(aKeptBundle({ source }), { sources });
  expect(await fixture.failure()).toBeUndefined();
  expect(fixture.status.phase).toBe('Failing');
  expect(fixture.status.conditions?.[0]?.message).toBe(
    'source bundle content: spec.source.parameters.bucket: Invalid input: expected string, received number',
  );
  expect(fixture.summary).toContainEqual(expect.stringMatching(/^Stalled True/));
});

test('Failing for a type that this process does not serve, with those that it does', async () => {
  const source = { type: 'acme-s4', parameters: bucket };
  const fixture = new BundleFixture(aKeptBundle({ source }), { sources });
  expect(await fixture.failure()).toBeUndefined();
  expect(fixture.status.conditions?.[0]?.message).toBe(
    'source bundle content: source type "acme-s4" not supported: this process serves acme-s3',
  );
});

test('what a process that does not know the type creates is noted as unresolved all the same', () => {
  expect(unresolvedNote(anAcme(), new Map())).toEqual({ [annotation.pin]: '' });
  expect(unresolvedNote(anAcme(), sources)).toEqual({ [annotation.pin]: '' });
  expect(unresolvedNote(anAcme({ bucket: 'a', version: 'v1' }), sources)).toBeUndefined();
});
