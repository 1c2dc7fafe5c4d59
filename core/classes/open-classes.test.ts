import { expect, it } from 'vitest';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import { openClasses } from './run-in-workers.ts';

const parts = { memory: ampleMemory(), logger: silentLogger };

const acme: Provisioner = { className: 'acme', deployment: async () => [] };

it('are those that are given', async () => {
  const { provisioners } = await openClasses([acme], parts);
  expect(provisioners).toEqual([acme]);
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
])('are refused where there is %s', async (_, given, text) => {
  await expect(openClasses(given, parts)).rejects.toThrow(new Error(text));
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
