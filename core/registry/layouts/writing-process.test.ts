import { expect, test } from 'vitest';
import { isRunning, thisProcess } from './writing-process.ts';

const own = await thisProcess();

test.each([
  ['this process', {}, true],
  ['an earlier process of the same number', { begin: 'earlier' }, false],
  // Without an ID of the machine, the name of the host alone is no proof.
  ['a process before a restart', { boot: 'before' }, own.machine === undefined ? undefined : false],
  ['a process of another container', { namespace: 'pid:[1]' }, undefined],
  ['a process of another host', { host: 'another' }, undefined],
  ['a process of a host of the same name', { machine: 'another', boot: 'another' }, undefined],
])('whether %s runs', async (_process, change, expected) => {
  expect(await isRunning({ ...own, ...change })).toBe(expected);
});
