import { describe, expect, it } from 'vitest';
import {
  type Bundle,
  type BundleDeployment,
  type BundleFiles,
  BundleFilesBuilder,
  type DeploymentContext,
  defaultLimits,
  TerminalError,
} from '../../core/sdk.ts';
import plain from './index.ts';

const context: DeploymentContext = {
  signal: new AbortController().signal,
  limits: defaultLimits,
  inputs: [],
  logger: {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
    child: () => context.logger,
  },
};

function aTree(files: Readonly<Record<string, string>>, directories: string[] = []): BundleFiles {
  const builder = new BundleFilesBuilder(defaultLimits);
  for (const [path, text] of Object.entries(files)) builder.addFile(path, Buffer.from(text));
  for (const path of directories) builder.addDirectory(path);
  return builder.build();
}

function aBundle(type: string): Bundle {
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'Bundle',
    metadata: { name: 'b' },
    spec: { provisionerClassName: 'core-rukpak-io-plain', source: { type } },
  };
}

const deployment: BundleDeployment = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'BundleDeployment',
  metadata: { name: 'd' },
  spec: {
    provisionerClassName: 'core-rukpak-io-plain',
    template: { spec: aBundle('image').spec },
  },
};

async function unpack(files: BundleFiles, type = 'image'): Promise<BundleFiles> {
  return plain.bundle!(files, aBundle(type), context);
}

const object = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const zeroObjects =
  'invalid bundle: found zero objects: plain+v0 bundles are required to contain at least one object';
const prefix = 'get objects from bundle manifests: ';

describe('a plain bundle', () => {
  it('is passed on as it was sourced, files outside of manifests included', async () => {
    const files = aTree({ 'manifests/a.txt': object, 'README.md': 'not: [yaml' }, ['tests/empty']);
    expect(await unpack(files)).toBe(files);
  });

  it.each([
    ['image', `${prefix}readdir manifests: file does not exist`],
    ['http', `${prefix}readdir manifests: file does not exist`],
    ['upload', `${prefix}readdir manifests: file does not exist`],
    ['configMaps', `${prefix}open manifests: file does not exist`],
    ['git', zeroObjects],
  ])('without manifests from %s says: %s', async (type, message) => {
    await expect(unpack(aTree({ 'a.yaml': object }), type)).rejects.toThrow(
      expect.objectContaining({ name: 'TerminalError', message }),
    );
  });

  it('whose manifests is a file is refused', async () => {
    await expect(unpack(aTree({ manifests: object }))).rejects.toThrow(
      `${prefix}readdir manifests: not a directory`,
    );
  });

  it.each([
    ['empty', aTree({}, ['manifests/sub'])],
    ['filled', aTree({ 'manifests/a.yaml': object, 'manifests/sub/b.yaml': object })],
  ])('with a sub-directory that is %s is refused', async (_, files) => {
    await expect(unpack(files)).rejects.toThrow(
      new TerminalError(
        `${prefix}subdirectories are not allowed within the "manifests" directory of the bundle image filesystem: found "manifests/sub"`,
      ),
    );
  });

  it.each([
    ['an empty directory', aTree({}, ['manifests'])],
    ['empty files', aTree({ 'manifests/a': '', 'manifests/b': '# nothing\n---\n' })],
    ['an empty list', aTree({ 'manifests/a': 'kind: List\napiVersion: v1\nitems: []\n' })],
  ])('with %s has zero objects', async (_, files) => {
    await expect(unpack(files)).rejects.toThrow(new TerminalError(zeroObjects));
  });

  it.each([
    [
      'readme.md',
      'hello',
      `${prefix}unable to decode "manifests/readme.md": json: cannot unmarshal string into Go value of type unstructured.detector`,
    ],
    [
      '.hidden',
      'b: "<x>"\na: 1\n',
      `${prefix}unable to decode "manifests/.hidden": Object 'Kind' is missing in '{"a":1,"b":"\\u003cx\\u003e"}'`,
    ],
    [
      'bad.yaml',
      'a: b\nc: [\n',
      `${prefix}error parsing manifests/bad.yaml: error converting YAML to JSON: yaml: line `,
    ],
  ])('with the file %s says what is wrong', async (name, text, message) => {
    const files = aTree({ 'manifests/a.yaml': object, [`manifests/${name}`]: text });
    await expect(unpack(files)).rejects.toThrow(message);
  });
});

describe('bounds on objects', () => {
  const few: DeploymentContext = { ...context, limits: { ...defaultLimits, maxEntries: 3 } };
  const four = aTree({
    'manifests/a': `${object}---\n${object}`,
    'manifests/b': `${object}---\n${object}`,
  });
  const list = aTree({ 'manifests/a': `kind: List\nitems: [${'{kind: A}, '.repeat(4)}]` });
  const tooMany = 'bundle has more than 3 objects (--max-content-entries): split it';

  it.each([
    ['in all files', four],
    ['in a list', list],
  ])('refuse too many %s', async (_, files) => {
    await expect(plain.bundle!(files, aBundle('image'), few)).rejects.toThrow(tooMany);
    await expect(plain.deployment!(files, deployment, few)).rejects.toThrow(tooMany);
  });

  it('give up at the first document that is one too many', async () => {
    const files = aTree({ 'manifests/a': `${'---\nkind: A\n'.repeat(4)}---\nnot: [yaml` });
    await expect(plain.bundle!(files, aBundle('image'), few)).rejects.toThrow(tooMany);
  });

  it('refuse an object that no API server takes, by name', async () => {
    const data = 'x'.repeat(3 * 1024 * 1024);
    const files = aTree({ 'manifests/a': `${object}data: {a: ${data}}\n` });
    await expect(unpack(files)).rejects.toThrow(
      /^get objects from bundle manifests: ConfigMap "a" has 31458\d\d bytes as JSON, more than the 3145728 that the API server takes: split it or make it smaller$/,
    );
  });
});

describe('a plain deployment', () => {
  const render = async (files: BundleFiles): Promise<readonly unknown[]> =>
    plain.deployment!(files, deployment, context);

  it('takes objects in the order of the files, each once', async () => {
    const files = aTree({
      'manifests/b.yaml': `${object}---\napiVersion: v1\nkind: Secret\nmetadata: {name: "{{ x }}"}\n`,
      'manifests/a.json': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}',
    });
    expect(await render(files)).toEqual([
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: '{{ x }}' } },
    ]);
  });

  it('says which content it could not read', async () => {
    await expect(render(aTree({}))).rejects.toThrow(
      new TerminalError('read bundle objects from bundle: readdir manifests: file does not exist'),
    );
    await expect(render(aTree({ 'manifests/a': 'x' }))).rejects.toThrow(
      'read bundle objects from bundle: unable to decode "manifests/a": ',
    );
  });
});
