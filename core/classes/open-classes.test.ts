import { describe, expect, it } from 'vitest';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { aBundle, aBundleDeployment, aContext, bundleFiles } from '../../testing/index.ts';
import { defaultLimits } from '../content/index.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import { openClasses } from './open-classes.ts';

const parts = { memory: ampleMemory(), logger: silentLogger };

const acme: Provisioner = { className: 'acme', deployment: async () => [] };

it('are those that are given', async () => {
  const uses = ['seed'] as const;
  const { provisioners } = await openClasses([{ ...acme, uses }], parts);
  expect(provisioners).toHaveLength(1);
  expect(provisioners[0]).toMatchObject({ className: 'acme', uses });
  expect(provisioners[0]).not.toHaveProperty('bundle');
});

it.each([
  ['none', [], 'provisioners is empty: name a class to serve'],
  [
    'something else',
    [{} as Provisioner],
    'provisioners has an entry that is not a class: create it with defineProvisioner({ className, … })',
  ],
  [
    'a class of another contract',
    [{ ...acme, contractVersion: 2 }],
    'class "acme" is written for contract version 2, and this rukpak has 1: use an sdk of its release',
  ],
  [
    'a class that does nothing',
    [{ className: 'acme' }],
    'class "acme" has neither a bundle nor a deployment handler',
  ],
  [
    'a class that adapts what it does not unpack',
    [{ ...acme, configure: async (files) => files }],
    'class "acme" has a configure handler and no bundle handler: only the class that a Bundle is unpacked by adapts its content',
  ],
  [
    'a class that asks for inputs of which it makes nothing',
    [{ className: 'acme', bundle: async (files) => files, inputs: async () => [] }],
    'class "acme" has an inputs handler and no deployment handler: core gives inputs to deployment only',
  ],
  [
    'a misspelt handler beside another one',
    [{ ...acme, bundel: async () => bundleFiles({}) } as Provisioner],
    'class "acme" has a function "bundel", which core never calls: did you mean bundle?',
  ],
])('are refused where there is %s', async (_, given, text) => {
  await expect(openClasses(given, parts)).rejects.toThrow(new Error(text));
});

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const given = bundleFiles({ 'a.txt': 'one' });

/** Calls the handlers of a class in this process. */
async function called(handlers: object, limits = {}) {
  const { provisioners } = await openClasses(
    [Object.assign(handlers, { className: 'acme' }) as Provisioner],
    parts,
  );
  const [{ bundle, configure, deployment } = acme] = provisioners;
  const context = aContext({ limits: { ...defaultLimits, ...limits } });
  return {
    bundle: async () => await bundle?.(given, aBundle(), context),
    configure: async () => await configure?.(given, aBundleDeployment(), context),
    deployment: async () => await deployment?.(given, aBundleDeployment(), context),
  };
}

describe('what a handler returns in this process is checked as in a worker process:', () => {
  it.each([
    ['nothing', undefined, 'the handler returned no objects'],
    ['null', null, 'class "acme" returned no array of objects'],
    ['another value', configMap, 'class "acme" returned no array of objects'],
    [
      'a label that is no string',
      [{ ...configMap, metadata: { name: 'a', labels: { a: 1 } } }],
      'object 1 (ConfigMap) of what class "acme" made of the bundle cannot be applied: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    ['more objects than allowed', [configMap, configMap], 'bundle has more than 1 objects'],
    [
      'larger objects than allowed',
      [{ ...configMap, data: { a: 'a'.repeat(1000) } }],
      'class "acme" made objects of more than 1000 bytes (--max-content-bytes)',
    ],
  ])('objects that are %s', async (_, result, text) => {
    const limits = { maxEntries: 1, maxBytes: 1000 };
    const { deployment } = await called({ deployment: async () => result }, limits);
    await expect(deployment()).rejects.toThrow(text);
  });

  it('objects', async () => {
    const { deployment } = await called({ deployment: async () => [configMap] });
    expect(await deployment()).toEqual([configMap]);
  });

  it.each([
    ['nothing', undefined, 'the handler returned no files'],
    ['null', null, 'class "acme" returned no files: it is not an object'],
    ['an object', {}, 'class "acme" returned no files: "files" is not a Map of paths and bytes'],
    ['larger than allowed', bundleFiles({ a: 'a'.repeat(1001) }), '--max-content-bytes'],
  ])('files that are %s', async (_, result, text) => {
    const handlers = { bundle: async () => result, configure: async () => result };
    const { bundle, configure } = await called(handlers, { maxBytes: 1000 });
    await expect(bundle()).rejects.toThrow(text);
    await expect(configure()).rejects.toThrow(text);
  });

  it('files', async () => {
    const made = bundleFiles({ 'b.txt': 'two' });
    const handlers = { bundle: async () => made, configure: async (files: unknown) => files };
    const { bundle, configure } = await called(handlers);
    expect(await bundle()).toBe(made);
    expect(await configure()).toBe(given);
  });

  it('a handler keeps the object that it belongs to', async () => {
    const self = {
      objects: [configMap],
      async deployment() {
        return this.objects;
      },
    };
    const { deployment } = await called(self);
    expect(await deployment()).toEqual([configMap]);
  });

  it('the facts that a class uses may change while it is served', async () => {
    const changing = { ...acme, uses: [] as ('cluster' | 'seed')[] };
    const { provisioners } = await openClasses([changing], parts);
    changing.uses = ['cluster'];
    expect(provisioners[0]?.uses).toEqual(['cluster']);
  });
});

it('may be modules, which run in processes of their own', async () => {
  const module = new URL('../../provisioners/plain/index.ts', import.meta.url);
  const classes = await openClasses([acme, module], parts);
  await classes.close();
  expect(classes.provisioners.map(({ className }) => className)).toEqual([
    'acme',
    'core-rukpak-io-plain',
  ]);
});

it.each([
  [
    'misspelt handler',
    'bundle: async (files) => files, deploymnet: async () => []',
    'class "acme" has a function "deploymnet", which core never calls: did you mean deployment?',
  ],
  [
    'helper and no handler',
    'help: async () => []',
    'class "acme" has neither a bundle nor a deployment handler',
  ],
  [
    'fact that does not exist',
    "deployment: async () => [], uses: ['clutser']",
    'class "acme" uses "clutser": there are "cluster" and "seed"',
  ],
  [
    'long name',
    `deployment: async () => [], className: '${'a'.repeat(64)}'`,
    'use at most 63 of a-z, 0-9 and "-"',
  ],
  [
    'other contract',
    'deployment: async () => [], contractVersion: 2',
    'class "acme" is written for contract version 2',
  ],
])('are checked in modules as well: a %s', async (_, fields, text) => {
  const code = `export default { className: 'acme', ${fields} };`;
  const module = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  await expect(openClasses([module], parts)).rejects.toThrow(text);
});
