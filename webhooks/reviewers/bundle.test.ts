import { describe, expect, test } from 'vitest';
import { cpuTime } from '../../test/helpers/cpu-time.ts';
import type { AdmissionRequest, AdmissionVerdict } from '../review.ts';
import { bundleValidator } from './bundle.ts';

const { signal } = new AbortController();
const configMaps = new Map<string, { immutable?: boolean }>([
  ['mutable', {}],
  ['also-mutable', { immutable: false }],
  ['frozen', { immutable: true }],
]);
const validate = bundleValidator({ get: async (name) => configMaps.get(name) });

function specOf(source: object, provisionerClassName = 'core-rukpak-io-plain'): object {
  return { provisionerClassName, source };
}

function create(source: object): Promise<AdmissionVerdict> {
  return judge({ operation: 'CREATE', object: { spec: specOf(source) } });
}

function update(from: object, to: object): Promise<AdmissionVerdict> {
  return judge({ operation: 'UPDATE', oldObject: { spec: from }, object: { spec: to } });
}

async function judge(request: Partial<AdmissionRequest>): Promise<AdmissionVerdict> {
  return validate({ uid: '1', operation: 'CREATE', ...request }, signal);
}

function denial(reason: string): AdmissionVerdict {
  return { allowed: false, status: { code: 403, reason } };
}

function acme(parameters: object): object {
  return specOf({ type: 'acme-s3', parameters });
}

const ok: AdmissionVerdict = { allowed: true };
const git = { repository: 'https://example.com/r', ref: { branch: 'main' } };

test.each<[source: object, text: string]>([
  [
    { type: 'http', parameters: {} },
    'bundle.spec.source.parameters must not be set for source type "http"',
  ],
  [{ type: 'image', upload: {} }, 'bundle.spec.source.image must be set for source type "image"'],
  [
    { type: 'git', image: { ref: 'x' } },
    'bundle.spec.source.git must be set for source type "git"',
  ],
  [
    { type: 'git', git: { ...git, directory: 'a/../../b' } },
    'bundle.spec.source.git.directory begins with "../": directory must define path within the repository',
  ],
  [
    { type: 'git', git: { ...git, directory: '..' } },
    'bundle.spec.source.git.directory begins with "../": directory must define path within the repository',
  ],
  [
    { type: 'configMaps', configMaps: [] },
    'bundle.spec.source.configmaps must be set for source type "configmaps"',
  ],
  [
    { type: 'configMaps', upload: {} },
    'bundle.spec.source.configmaps must be set for source type "configmaps"',
  ],
  [
    { type: 'configMaps', configMaps: [{ configMap: { name: 'frozen' }, path: 'x/../../y' }] },
    'bundle.spec.source.configmaps[0].path is invalid: "x/../../y" is outside bundle root',
  ],
  [
    { type: 'configMaps', configMaps: [{ configMap: { name: 'mutable' } }] },
    'bundle.spec.source.configmaps[0].configmap.name is invalid: configmap "mutable" is not immutable',
  ],
  [
    {
      type: 'configMaps',
      configMaps: [
        { configMap: { name: 'frozen' } },
        { configMap: { name: 'also-mutable' }, path: '../x' },
      ],
    },
    '[bundle.spec.source.configmaps[1].path is invalid: "../x" is outside bundle root, bundle.spec.source.configmaps[1].configmap.name is invalid: configmap "also-mutable" is not immutable]',
  ],
])('%j is denied', async (source, text) => {
  expect(await create(source)).toEqual(denial(text));
  // What is stored needs to lose its finalizer.
  expect(await update(specOf(source), specOf(source))).toEqual(ok);
});

test('the metadata of a Bundle changes, whatever an earlier version let into its spec', async () => {
  const spec = { provisionerClassName: 'a', source: 'text' };
  expect(await update(spec, spec)).toEqual(ok);
  expect(await update(spec, { ...spec, provisionerClassName: 'b' })).toMatchObject({
    status: { code: 400 },
  });
});

test('parameters are bounded in depth, before anything reads them', async () => {
  const text = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
  const parameters = JSON.parse(text) as object;
  expect(await create({ type: 'acme-s3', parameters })).toEqual(
    denial('bundle.spec.source.parameters must have no more than 64 levels'),
  );
});

test.each<[source: object]>([
  [{ type: 'image', image: { ref: 'x' } }],
  [{ type: 'git', git: { ...git, directory: './a/../b' } }],
  [{ type: 'git', git: { ...git, directory: '..data' } }],
  [{ type: 'git', git: { ...git, directory: '/manifests' } }],
  [{ type: 'configMaps', configMaps: [{ configMap: { name: 'missing' }, path: 'manifests' }] }],
  [{ type: 'configMaps', configMaps: [{ configMap: {} }] }],
  [{ type: 'http', upload: {} }],
  [{ type: 'upload', image: { ref: 'x' } }],
  [{ type: 'oops', image: { ref: 'x' } }],
  [{ type: 'acme-s3', parameters: { bucket: 'b', of: { any: ['shape'] } } }],
])('%j is allowed', async (source) => {
  expect(await create(source)).toEqual(ok);
});

const immutable = denial('bundle.spec is immutable');
const image = specOf({ type: 'image', image: { ref: 'x' } });

test.each<[what: string, from: object, to: object]>([
  ['another reference', image, specOf({ type: 'image', image: { ref: 'y' } })],
  ['other parameters', acme({ bucket: 'a' }), acme({ bucket: 'b' })],
  ['another class', image, specOf({ type: 'image', image: { ref: 'x' } }, 'other')],
  ['a pull secret', image, specOf({ type: 'image', image: { ref: 'x', pullSecret: 's' } })],
  ['an empty source block', image, specOf({ type: 'image', image: { ref: 'x' }, upload: {} })],
  [
    'a commit for a branch',
    specOf({ type: 'git', git }),
    specOf({ type: 'git', git: { ...git, ref: { commit: 'main' } } }),
  ],
  [
    'a checksum',
    specOf({ type: 'http', http: { url: 'u' } }),
    specOf({ type: 'http', http: { url: 'u', checksum: `sha256:${'1'.repeat(64)}` } }),
  ],
  [
    'credentials',
    specOf({ type: 'http', http: { url: 'u' } }),
    specOf({ type: 'http', http: { url: 'u', auth: { secret: { name: 's' } } } }),
  ],
  [
    'the order of ConfigMaps',
    specOf({
      type: 'configMaps',
      configMaps: [{ configMap: { name: 'a' } }, { configMap: { name: 'b' } }],
    }),
    specOf({
      type: 'configMaps',
      configMaps: [{ configMap: { name: 'b' } }, { configMap: { name: 'a' } }],
    }),
  ],
])('an update with %s changes the spec', async (_what, from, to) => {
  expect(await update(from, to)).toEqual(immutable);
});

test('a change of the spec is named before a fault of its source', async () => {
  expect(await update(image, specOf({ type: 'image', upload: {} }))).toEqual(immutable);
});

test.each<[what: string, from: object, to: object]>([
  ['nothing', image, image],
  ['no parameter', acme({ a: 1, b: { c: 2 } }), acme({ b: { c: 2 }, a: 1 })],
  [
    'empty authentication',
    specOf({ type: 'git', git }),
    specOf({ type: 'git', git: { ...git, directory: '', auth: { secret: {} } } }),
  ],
  [
    'empty names',
    specOf({ type: 'http', http: { url: 'u' } }),
    specOf({
      type: 'http',
      http: { url: 'u', auth: { secret: { name: '' }, insecureSkipVerify: false } },
    }),
  ],
  [
    'an empty list of ConfigMaps',
    image,
    specOf({ type: 'image', image: { ref: 'x' }, configMaps: [] }),
  ],
  ['fields that nobody knows', image, { ...image, gone: true }],
])('an update with %s leaves the spec as it was', async (_what, from, to) => {
  expect(await update(from, to)).toEqual(ok);
});

test.each<[object: unknown]>([
  [undefined],
  [null],
  [{}],
  [{ spec: { provisionerClassName: 'a', source: 'text' } }],
  [{ spec: JSON.parse('{"__proto__": {"source": {"type": "image"}}}') }],
])('an object that is no Bundle, %j, is refused with 400', async (object) => {
  const verdict = await judge({ operation: 'CREATE', object });
  expect(verdict).toMatchObject({ allowed: false, status: { code: 400 } });
  expect(verdict.status?.message).toContain('failed to decode Bundle: request.object');
});

test('deletion and subresources are not its business', async () => {
  expect(await judge({ operation: 'DELETE' })).toEqual(ok);
  expect(await judge({ operation: 'UPDATE', subResource: 'status' })).toEqual(ok);
});

test('judges a path of a million parts in no time', async () => {
  const start = cpuTime();
  const directory = `${'a/'.repeat(500_000)}${'../'.repeat(500_000)}b`;
  expect(await create({ type: 'git', git: { ...git, directory } })).toEqual(ok);
  const { allowed } = await create({
    type: 'git',
    git: { ...git, directory: '../'.repeat(500_000) },
  });
  expect(allowed).toBe(false);
  expect(cpuTime() - start).toBeLessThan(2000);
});

describe('the note of what a Bundle was unpacked from', () => {
  const pin = `sha256:${'1'.repeat(64)}`;
  const noted = (value?: string): object => {
    const annotations = value === undefined ? {} : { 'core.rukpak.io/pin': value };
    return { metadata: { annotations }, spec: image };
  };
  const change = (before?: string, after?: string): Promise<AdmissionVerdict> =>
    judge({ operation: 'UPDATE', oldObject: noted(before), object: noted(after) });

  test.each([
    ['is another one', pin, `sha256:${'2'.repeat(64)}`],
    ['is emptied', pin, ''],
    ['is removed', pin, undefined],
    ['is removed before there is one', '', undefined],
  ])('is denied where it %s', async (_, before, after) => {
    expect(await change(before, after)).toEqual(
      denial(
        'annotation core.rukpak.io/pin identifies the content of the Bundle, and is immutable',
      ),
    );
  });

  test.each([
    ['is new', undefined, ''],
    ['is that of a Bundle from before there were notes', undefined, pin],
    ['is filled in', '', pin],
    ['stays', pin, pin],
  ])('is allowed where it %s', async (_, before, after) => {
    expect(await change(before, after)).toEqual(ok);
  });
});
