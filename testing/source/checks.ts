import { fail, strictEqual } from 'node:assert';
import {
  type BundleSource,
  type ContentLimits,
  defaultLimits,
  type SecretReader,
  type Source,
  type SourceContext,
  type SourceResult,
  type SourceServer,
} from '../../core/sdk.ts';
import { abortedResults, thrownBy } from '../calls.ts';
import { assertContent, bundleFiles, contentTexts } from '../content.ts';
import { aSourceContext } from '../contexts.ts';
import { assertEqual, assertMessage, assertRefusal } from '../suite.ts';
import type { FetchedSource, RefusedSource } from './fixtures.ts';

/** The source must return content, and a spec of its own type, as the fixture expects. */
export async function checkFetch(source: Source, fixture: FetchedSource): Promise<void> {
  const before = structuredClone(fixture.source);
  const { files, resolvedSource } = await fetchFixture(source, fixture);
  assertContent(files);
  strictEqual(resolvedSource.type, source.type, 'resolvedSource is of another type');
  assertEqual(fixture.source, before, 'it changed the spec that it was given');
  if (fixture.files !== undefined) {
    const expected = contentTexts(bundleFiles(fixture.files));
    assertEqual(contentTexts(files), expected, 'its files are not those of the fixture');
  }
  if (fixture.resolvedSource !== undefined) {
    const sentence = 'its resolvedSource is not that of the fixture';
    assertEqual(resolvedSource, fixture.resolvedSource, sentence);
  }
}

/**
 * Core fetches lost content again by resolvedSource: that must return the same files, with the same
 * pin.
 */
export async function checkPin(source: Source, fixture: FetchedSource): Promise<void> {
  const first = await fetchFixture(source, fixture);
  const again = await fetchFixture(source, { ...fixture, source: first.resolvedSource });
  assertEqual(
    contentTexts(again.files),
    contentTexts(first.files),
    'fetched again by its resolvedSource, it gave other files',
  );
  assertEqual(
    again.resolvedSource,
    first.resolvedSource,
    'fetched again by its resolvedSource, it pinned it otherwise',
  );
  checkNames(source, fixture.source, first.resolvedSource);
}

/** Core stores only the pin, and builds the source again from it and the spec. */
function checkNames({ pin }: Source, spec: BundleSource, resolved: BundleSource): void {
  if (typeof pin === 'string') return;
  const text = pin.of(resolved);
  if (text === undefined) fail('pin.of names no content of its resolvedSource');
  assertEqual(pin.at(spec, text), resolved, 'pin.at makes another source than its resolvedSource');
  assertEqual(
    pin.place(resolved) ?? '',
    pin.place(spec),
    'pin.place names another place for its resolvedSource',
  );
}

/** The source must read the Secret that it names, and only for its own server. */
export async function checkSecret(source: Source, fixture: FetchedSource): Promise<void> {
  const { source: spec, host } = fixture;
  const server = source.host(spec);
  if (host !== undefined) strictEqual(server && shown(server), host, 'host names another server');
  const read = await secretsRead(source, fixture);
  if (source.secret !== undefined) checkNamed(source.secret(spec), read);
  if (read.length > 0 && server === undefined && source.secretsListHosts !== true) {
    fail(`it reads Secret "${read[0]}", and host names no server that core may show it to`);
  }
}

function checkNamed(named: string | undefined, read: readonly string[]): void {
  const other = read.find((name) => name !== named);
  if (other === undefined) return;
  fail(
    `it reads Secret "${other}", and secret names ${named === undefined ? 'none' : `"${named}"`}`,
  );
}

async function secretsRead(source: Source, fixture: FetchedSource): Promise<readonly string[]> {
  const { secrets } = contextOf(fixture);
  const read: string[] = [];
  const recorded: SecretReader = {
    read: async (name, signal) => {
      read.push(name);
      return await secrets.read(name, signal);
    },
  };
  await fetchFixture(source, fixture, { secrets: recorded });
  return read;
}

function shown({ hostname, port }: SourceServer): string {
  return port === '' ? hostname : `${hostname}:${port}`;
}

/** When Bundles share a fetch, its result must not depend on the Bundle. */
export async function checkShareable(source: Source, fixture: FetchedSource): Promise<void> {
  if (!source.shareable) return;
  const bundle = { name: 'another', uid: 'uid-of-another' };
  const first = await fetchFixture(source, fixture);
  const other = await fetchFixture(source, fixture, { bundle });
  const sentence = 'it is shareable, and gave other files for another Bundle';
  assertEqual(contentTexts(other.files), contentTexts(first.files), sentence);
}

/**
 * Pinned content just above a limit must be refused with a TerminalError, because it never changes.
 * Unpinned content may change, so that a retry may help.
 */
export async function checkLimits(source: Source, fixture: FetchedSource): Promise<void> {
  const { files, resolvedSource } = await fetchFixture(source, fixture);
  const sizes = [...files.files.values()].map(({ byteLength }) => byteLength);
  const tooSmall: readonly Partial<ContentLimits>[] = [
    { maxBytes: sizes.reduce((sum, size) => sum + size, 0) - 1 },
    { maxEntries: files.files.size + files.directories.size - 1 },
  ];
  const pinned = { ...fixture, source: resolvedSource };
  for (const limit of tooSmall) {
    const limits = { ...defaultLimits, ...limit };
    const thrown = await thrownBy(() => fetchFixture(source, pinned, { limits }));
    const [[name, value] = []] = Object.entries(limit);
    if (thrown === undefined) fail(`it gave more than context.limits.${name} of ${value} allows`);
    assertRefusal(thrown.error, 'TerminalError');
  }
}

/** An aborted fetch must end within a second: with an Error, or with the complete content. */
export async function checkAbort(source: Source, fixture: FetchedSource): Promise<void> {
  const usual = contentTexts((await fetchFixture(source, fixture)).files);
  const results = await abortedResults((signal) => fetchFixture(source, fixture, { signal }));
  for (const { how, value } of results) {
    assertEqual(contentTexts(value.files), usual, `${how}, it gave other files than otherwise`);
  }
}

/** The source must report the problem with the right error and the fixture's message. */
export async function checkRefusal(source: Source, fixture: RefusedSource): Promise<void> {
  const thrown = await thrownBy(() => fetchFixture(source, fixture));
  if (thrown === undefined) fail('it was fetched');
  assertRefusal(thrown.error, fixture.error);
  assertMessage(thrown.error, fixture.message);
}

/** The source must refuse a spec with only a type. */
export async function checkEmptySpec(source: Source): Promise<void> {
  const thrown = await thrownBy(() => fetchFixture(source, { source: { type: source.type } }));
  if (thrown === undefined) fail('it fetched content for a spec that has only a type');
  assertRefusal(thrown.error, 'TerminalError');
}

type Attempt = Pick<FetchedSource, 'source' | 'secrets' | 'configMaps'>;

/** Runs a fixture's fetch, with its Secrets and ConfigMaps. */
async function fetchFixture(
  source: Source,
  fixture: Attempt,
  changes: Partial<SourceContext> = {},
): Promise<SourceResult> {
  return await source.fetch(fixture.source, { ...contextOf(fixture), ...changes });
}

function contextOf({ secrets = {}, configMaps = {} }: Attempt): SourceContext {
  return aSourceContext({ secrets, configMaps });
}
