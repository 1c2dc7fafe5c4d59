import { describe, expect, test } from 'vitest';
import type { ConfigMapSource } from '../../api/v1alpha1/bundle.ts';
import { aSourceContext } from '../../test/helpers/source-context.ts';
import { describeSource } from '../../testing/index.ts';
import { defaultLimits } from '../content/index.ts';
import type { SourceContext, SourceResult } from '../contracts/source.ts';
import { TerminalError } from '../errors.ts';
import { createConfigMapsSource } from './config-maps-source.ts';

const stored: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  a: { 'one.yaml': '1', 'two.yaml': '2' },
  b: { 'two.yaml': 'other', 'three.yaml': '3' },
  c: { 'one.yaml': '1', 'two.yaml': '2' },
};

const configMaps: SourceContext['configMaps'] = {
  namespace: 'system',
  async read(name) {
    const data = stored[name];
    if (data === undefined) return undefined;
    return new Map(Object.entries(data).map(([key, text]) => [key, Buffer.from(text)]));
  },
};

function from(name: string, path?: string): ConfigMapSource {
  return path === undefined ? { configMap: { name } } : { configMap: { name }, path };
}

async function fetch(
  sources: ConfigMapSource[] | undefined,
  changes: Partial<SourceContext> = {},
): Promise<SourceResult> {
  const source = { type: 'configMaps', ...(sources === undefined ? {} : { configMaps: sources }) };
  const context = aSourceContext({ configMaps, ...changes });
  return await createConfigMapsSource().fetch(source, context);
}

async function failure(...wanted: Parameters<typeof fetch>): Promise<Error> {
  const outcome: unknown = await fetch(...wanted).catch((error: unknown) => error);
  if (outcome instanceof Error) return outcome;
  throw new Error('the fetch did not fail');
}

describe('ConfigMaps', () => {
  test('become files in the folders that their items name', async () => {
    const sources = [from('a', 'manifests'), from('b'), from('b', './x/../deep//er/')];
    const { files, resolvedSource } = await fetch(sources);
    const texts = [...files.files].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]);
    expect(texts).toEqual([
      ['deep/er/three.yaml', '3'],
      ['deep/er/two.yaml', 'other'],
      ['manifests/one.yaml', '1'],
      ['manifests/two.yaml', '2'],
      ['three.yaml', '3'],
      ['two.yaml', 'other'],
    ]);
    expect(resolvedSource).toEqual({ type: 'configMaps', configMaps: sources });
  });

  test('may be named twice', async () => {
    expect((await fetch([from('a'), from('a')])).files.files.size).toBe(2);
  });

  test('must not give the same file', async () => {
    expect(await failure([from('b', 'm'), from('a', './m/')])).toEqual(
      new TerminalError('duplicate path "m/two.yaml" found in configmaps [a b]'),
    );
    expect(await failure([from('a'), from('c'), from('b')])).toEqual(
      new TerminalError(
        '[duplicate path "one.yaml" found in configmaps [a c], duplicate path "two.yaml" found in configmaps [a b c]]',
      ),
    );
  });

  test('that are missing may still come', async () => {
    expect(await failure([from('a'), from('missing')])).toEqual(
      new Error('get configmap system/missing: ConfigMap "missing" not found'),
    );
  });

  test.each([[undefined], [[]]])('must be named: %j', async (sources) => {
    expect(await failure(sources)).toEqual(
      new TerminalError('bundle source configmaps configuration is unset'),
    );
  });

  test('have names', async () => {
    expect(await failure([from('a'), { configMap: {} }])).toEqual(
      new TerminalError('bundle source configMaps[1].configMap.name is unset'),
    );
  });

  test.each(['..', '../x', 'x/../../y', '/', '/manifests'])(
    'stay within the bundle: %s',
    async (path) => {
      expect(await failure([from('a', path)])).toEqual(
        new TerminalError(
          `bundle source configMaps[0].path is invalid: "${path}" is outside bundle root`,
        ),
      );
    },
  );

  test('are bounded', async () => {
    const limits = { ...defaultLimits, maxEntries: 1 };
    expect(await failure([from('a')], { limits })).toBeInstanceOf(TerminalError);
    const long = `${'x/../'.repeat(200_000)}..`;
    expect((await failure([from('a', long)])).message).toContain('is outside bundle root');
  });
});

const given = {
  colours: { 'a.yaml': 'blue', 'b.yaml': 'red' },
  shapes: { 'c.yaml': 'round' },
};

describeSource(
  createConfigMapsSource(),
  {
    fetched: [
      {
        name: 'two ConfigMaps',
        source: {
          type: 'configMaps',
          configMaps: [
            { configMap: { name: 'colours' }, path: 'manifests' },
            { configMap: { name: 'shapes' } },
          ],
        },
        configMaps: given,
        files: { 'c.yaml': 'round', 'manifests/a.yaml': 'blue', 'manifests/b.yaml': 'red' },
      },
    ],
    refused: [
      {
        name: 'a folder outside of the bundle',
        source: {
          type: 'configMaps',
          configMaps: [
            { configMap: { name: 'colours' } },
            { configMap: { name: 'colours' }, path: '..' },
          ],
        },
        configMaps: given,
        error: 'TerminalError',
        message: /^bundle source configMaps\[1\]\.path is invalid: /,
      },
      {
        name: 'a ConfigMap that may still come',
        source: { type: 'configMaps', configMaps: [{ configMap: { name: 'none' } }] },
        error: 'Error',
        message: 'get configmap rukpak-system/none: ConfigMap "none" not found',
      },
    ],
  },
  { test },
);
