import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  type BundleFiles,
  BundleFilesBuilder,
  type BundleSource,
  defineSource,
  type Source,
  type SourceContext,
  type SourcePin,
  TerminalError,
  WaitingError,
} from '../../core/sdk.ts';
import { describeSource } from './describe-source.ts';
import type { SourceFixtures } from './fixtures.ts';

const spec = { type: 'acme', image: { ref: 'a' } };
const fixtures: SourceFixtures = {
  fetched: [{ name: 'x', source: spec, files: { 'a/b': 'text' } }],
  refused: [
    {
      name: 'y',
      source: { type: 'acme', image: { ref: 'later' } },
      error: 'WaitingError',
      message: 'not yet',
    },
  ],
};

function contentFor({ limits }: SourceContext, text = 'text'): BundleFiles {
  const builder = new BundleFilesBuilder(limits);
  builder.addFile('a/b', Buffer.from(text));
  return builder.build();
}

const pin: SourcePin = {
  of: ({ image }) => image?.ref,
  at: (source, ref) => ({ ...source, image: { ref } }),
  place: ({ type }) => type,
};

/** A source that passes, but for what it does with a spec that is as it should be. */
function aSource(fetch?: Source['fetch'], changes: Partial<Source> = {}): Source {
  return {
    type: 'acme',
    pin,
    host: () => new URL('https://acme.example'),
    shareable: true,
    async fetch(source, context) {
      if (source.image === undefined) throw new TerminalError('no image');
      if (source.image.ref === 'later') throw new WaitingError('not yet');
      if (fetch !== undefined) return await fetch(source, context);
      return { files: contentFor(context), resolvedSource: source };
    },
    ...changes,
  };
}

async function complaints(
  source: Source,
  changes: Partial<SourceFixtures> = {},
): Promise<Readonly<Record<string, string>>> {
  const tests: [string, () => Promise<void>][] = [];
  const test = (title: string, run: () => Promise<void>): unknown => tests.push([title, run]);
  describeSource(source, { ...fixtures, ...changes }, { test });
  const found: Record<string, string> = {};
  for (const [title, run] of tests) {
    await run().catch((error: Error) => {
      found[title.replace('source acme: ', '')] = error.message;
    });
  }
  return found;
}

it('has nothing to say of a source that keeps the contract', async () => {
  expect(await complaints(aSource())).toEqual({});
});

it('takes a source that is an object of a class, with private fields', async () => {
  class Shelf implements Source {
    readonly #own = aSource();
    readonly type = 'acme';
    readonly pin = pin;
    readonly shareable = true;
    host(source: BundleSource) {
      return this.#own.host(source);
    }
    async fetch(source: BundleSource, context: SourceContext) {
      return await this.#own.fetch(source, context);
    }
  }
  expect(await complaints(new Shelf())).toEqual({});
});

it('needs no spec that is refused but the empty one', async () => {
  const { refused: _refused, ...fetchedOnly } = fixtures;
  const titles: string[] = [];
  describeSource(aSource(), fetchedOnly, { test: (title) => titles.push(title) });
  expect(titles).toContain('source acme: a spec of nothing but its type is refused');
});

it('names a fetch that never settles', async () => {
  const never = aSource(async () => await new Promise<never>(() => undefined));
  const found = await complaints(never, { timeout: 20 });
  expect(found['"x" is fetched']).toBe(
    'fetch has not settled within 0.02 s: see what it awaits, or give it longer (timeout in the fixtures)',
  );
});

it('asks for something to try the source with', async () => {
  expect(await complaints(aSource(), { fetched: [], refused: [] })).toEqual({
    'has something to try it with': 'the fixtures have nothing that is fetched',
  });
});

it.each<[string, Source['fetch'], Readonly<Record<string, unknown>>]>([
  [
    'other files',
    async (source, context) => ({ files: contentFor(context, 'red'), resolvedSource: source }),
    { '"x" is fetched': expect.stringMatching(/^its files are not those of the fixture/) },
  ],
  [
    'another type',
    async (_, context) => ({ files: contentFor(context), resolvedSource: { type: 'git' } }),
    { '"x" is fetched': expect.stringMatching(/^resolvedSource is of another type/) },
  ],
  [
    'no content',
    async (source) => ({ files: {} as BundleFiles, resolvedSource: source }),
    { '"x" is fetched': expect.stringMatching(/^it returned no content/) },
  ],
  [
    'something that is not pinned',
    async ({ image, ...source }, context) => ({
      files: contentFor(context, image?.ref === 'a' ? 'text' : 'changed'),
      resolvedSource: { ...source, image: { ref: 'b' } },
    }),
    {
      '"x" is pinned to what was fetched': expect.stringMatching(
        /^fetched again by its resolvedSource, it gave other files/,
      ),
    },
  ],
  [
    'more than the limits allow',
    async (source) => ({
      files: { files: new Map([['a/b', Buffer.from('text')]]), directories: new Set(['a']) },
      resolvedSource: source,
    }),
    {
      '"x" stays within the limits': expect.stringMatching(
        /^it gave more than context.limits.maxBytes of 3 allows/,
      ),
    },
  ],
  [
    'no end',
    async (source, context) => {
      if (context.signal.aborted) await new Promise(() => undefined);
      return { files: contentFor(context), resolvedSource: source };
    },
    {
      '"x" ends when it is aborted': expect.stringMatching(
        /^aborted before it began, it had not ended a second later/,
      ),
    },
  ],
])('finds a source that gives %s', async (_, fetch, found) => {
  expect(await complaints(aSource(fetch))).toMatchObject(found);
});

it('finds the wrong error, and the wrong words', async () => {
  const [refused] = fixtures.refused ?? [];
  expect(
    await complaints(aSource(), { refused: [{ ...refused!, error: 'TerminalError' }] }),
  ).toEqual({
    '"y" is refused': expect.stringMatching(/^it threw WaitingError, and is to throw a Terminal/),
  });
  const other = await complaints(aSource(), { refused: [{ ...refused!, message: /^never/ }] });
  expect(other['"y" is refused']).toContain('/^never/');
});

it('finds a source that takes a spec without anything', async () => {
  const all: Source = {
    ...aSource(),
    fetch: async (source, context) => ({ files: contentFor(context), resolvedSource: source }),
  };
  expect((await complaints(all))['a spec of nothing but its type is refused']).toBe(
    'it fetched content for a spec that has only a type',
  );
});

it.each<[string, Partial<SourcePin>, string]>([
  ['names no content', { of: () => undefined }, 'pin.of names no content of its resolvedSource'],
  [
    'makes another source',
    { at: (source) => ({ ...source, image: { ref: 'b' } }) },
    'pin.at makes another source than its resolvedSource',
  ],
  [
    'is of another place',
    { place: () => undefined },
    'pin.place names another place for its resolvedSource',
  ],
])('finds a pin that %s', async (_, changes, complaint) => {
  const found = await complaints(aSource(undefined, { pin: { ...pin, ...changes } }));
  expect(found['"x" is pinned to what was fetched']?.split('\n')[0]).toBe(complaint);
});

it('finds a source that names another server, or no server or another Secret than it reads', async () => {
  const title = '"x" reads no other Secret than it names';
  const read: Source['fetch'] = async (source, context) => {
    await context.secrets.read('login', context.signal);
    return { files: contentFor(context), resolvedSource: source };
  };
  const [first] = fixtures.fetched;
  const fetched = [{ ...first!, host: 'other.example:8443' }];
  expect((await complaints(aSource(), { fetched }))[title]).toMatch(/^host names another server/);
  expect(await complaints(aSource(read, { secret: () => 'login' }))).toEqual({});
  expect((await complaints(aSource(read, { secret: () => 'other' })))[title]).toBe(
    'it reads Secret "login", and secret names "other"',
  );
  expect((await complaints(aSource(read, { host: () => undefined })))[title]).toBe(
    'it reads Secret "login", and host names no server that core may show it to',
  );
});

it('finds a defined source whose server does not name its content', async () => {
  const parameters = z.object({ url: z.string(), version: z.string().optional() });
  const careless = defineSource({
    type: 'acme',
    parameters,
    pin: 'version',
    host: () => undefined,
    shareable: true,
    fetch: async (_, context) => ({ files: contentFor(context), pin: '' }),
  });
  const source = { type: 'acme', parameters: { url: 'a' } };
  const found = await complaints(careless, { fetched: [{ name: 'x', source }], refused: [] });
  expect(found['"x" is fetched']).toBe(
    'source type "acme" returned content without a pin: its parameter "version" must be a non-empty string, but is ""',
  );
});

it('finds a shareable source that fetches for one Bundle alone', async () => {
  const source = aSource(async (resolvedSource, context) => ({
    files: contentFor(context, context.bundle.name),
    resolvedSource,
  }));
  const [first] = fixtures.fetched;
  const { files: _files, ...unchecked } = first!;
  const found = await complaints(source, { fetched: [unchecked] });
  expect(found['"x" is the same for every Bundle']).toMatch(
    /^it is shareable, and gave other files/,
  );
  expect(await complaints({ ...source, shareable: false }, { fetched: [unchecked] })).toEqual({});
});
