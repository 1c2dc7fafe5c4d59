// @module-tag long
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runBothOpmsApart } from '../helpers/both-opms.ts';
import { opmBinary } from '../helpers/opm.ts';

const samples = join(import.meta.dirname, '../../deploy/samples/howto');

beforeAll(async () => {
  await opmBinary();
});

/** Runs both in copies of the samples, and compares what they print and leave there. */
async function sameFiles(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const env = (folder: string) => ({
    PATH: [join(folder, 'tools'), process.env['PATH']].join(':'),
  });
  const { ours, theirs } = await runBothOpmsApart(args, { copyOf: samples, files, env });
  expect(ours).toEqual(theirs);
}

describe('opm init', () => {
  test.each([
    [['init', 'greeter']],
    [['init', 'greeter', '-c', 'stable', '-o', 'yaml']],
    [['init', 'greeter', '-d', 'catalog/greeter/catalog.yaml']],
    [['init', 'greeter', '-d', 'catalog/greeter/catalog.yaml', '-o', 'yaml']],
    [['init', 'greeter', '-i', 'catalog/greeter/catalog.yaml']],
    [['init', 'greeter', '-i', 'nothing']],
    [['init', 'greeter', '-d', 'nothing']],
    [['init', 'greeter', '-d', 'catalog']],
    [['init', 'greeter', '-o', 'xml']],
    [['init']],
    [['init', 'greeter', '-i', 'icon.svg', '-o', 'yaml']],
    [['init', 'greeter', '-i', 'icon.gif']],
    [['init', 'greeter', '-i', 'icon.empty']],
    [['init', 'greeter', '-i', 'icon.txt']],
  ])('%j prints the same', async (args) => {
    await sameFiles(args, {
      'icon.svg': '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"></svg>',
      'icon.gif': 'GIF89a',
      'icon.txt': 'text',
      'icon.empty': '',
    });
  });
});

/** Of the format before bundle images. */
const oldPackage = {
  'old/old.package.yaml':
    'packageName: old\nchannels: [{name: b, currentCSV: old.v2}, {name: a, currentCSV: old.v1}]\ndefaultChannel: b\n',
  'old/1.0.0/csv.yaml':
    'kind: ClusterServiceVersion\nmetadata: {name: old.v1}\nspec: {version: 1.0.0}\n',
  'old/2.0.0/csv.yaml':
    'kind: ClusterServiceVersion\nmetadata: {name: old.v2}\nspec: {version: 2.0.0, replaces: old.v1}\n',
};

describe('opm alpha bundle build', () => {
  const bundle = ['alpha', 'bundle', 'build', '-d', 'bundle/manifests', '-t', 'example.com/a:v1'];
  const named = ['-p', 'pkg', '-c', 'a'];

  test.each([
    [[...bundle, ...named, '-o']],
    [[...bundle, ...named, '-b', 'buildah', '-o']],
    [[...bundle, ...named, '-b', 'podman', '--overwrite']],
    [[...bundle, '-p', 'greeter', '-c', 'candidate,stable', '-e', 'stable']],
    [[...bundle, ...named, '-b', 'nonsense', '-o']],
    [['alpha', 'bundle', 'build', '-d', 'nothing', '-t', 'x']],
    [['alpha', 'bundle', 'build', '-d', 'bundle']],
  ])('%j calls the same tool', async (args) => {
    const tool =
      '#!/bin/sh\necho "$0 $@" | sed "s,.*/,,"\necho log >&2\nexit $(echo $0 | grep -c podman)\n';
    const tools = Object.fromEntries(
      ['docker', 'podman', 'buildah'].map((name) => [`tools/${name}`, tool]),
    );
    await sameFiles(args, tools);
  });
});

describe('files', () => {
  test.each([
    [['generate', 'dockerfile', 'catalog']],
    [['generate', 'dockerfile', 'catalog/']],
    [['generate', 'dockerfile', 'catalog', '-i', 'scratch']],
    [['generate', 'dockerfile', 'catalog', '-b', 'scratch']],
    [
      [
        'generate',
        'dockerfile',
        'catalog',
        '-b',
        'a:1',
        '-i',
        'b:2',
        '-l',
        'x=1,y=2',
        '-l',
        'x=3=4',
      ],
    ],
    [['generate', 'dockerfile', 'catalog', '--binary-image', 'a:1']],
    [['generate', 'dockerfile', 'catalog', '--binary-image', 'a:1', '-i', 'b']],
    [['generate', 'dockerfile', 'catalog', '-l', 'foo']],
    [['generate', 'dockerfile', 'nothing']],
    [['generate', 'dockerfile', 'web.yaml']],
    [['generate', 'dockerfile', 'there']],
    [['alpha', 'bundle', 'generate', '-d', 'bundle/manifests']],
    [['alpha', 'bundle', 'generate', '-d', 'bundle/manifests', '-p', 'pkg', '-c', 'a,b']],
    [
      [
        'alpha',
        'bundle',
        'generate',
        '-d',
        'bundle/manifests',
        '-p',
        'pkg',
        '-c',
        'a,b',
        '-e',
        'b',
      ],
    ],
    [
      [
        'alpha',
        'bundle',
        'generate',
        '-d',
        'bundle/manifests',
        '-p',
        'pkg',
        '-c',
        'a',
        '-u',
        'out',
      ],
    ],
    [
      [
        'alpha',
        'bundle',
        'generate',
        '-d',
        'bundle/manifests',
        '-p',
        'p',
        '-c',
        'a',
        '--base-image',
        'x',
      ],
    ],
    [['alpha', 'bundle', 'generate', '-d', 'nothing', '-p', 'p', '-c', 'a']],
    [['alpha', 'bundle', 'generate']],
    [['alpha', 'bundle', 'generate', '-d', 'old/1.0.0']],
    [['alpha', 'bundle', 'generate', '-d', 'old/2.0.0', '-c', 'x']],
    [['alpha', 'bundle', 'generate', '-d', 'old/2.0.0', '-p', 'x', '-e', 'y']],
  ])('opm %j writes the same', async (args) => {
    await sameFiles(args, { 'there.Dockerfile': 'x', ...oldPackage });
  });
});
