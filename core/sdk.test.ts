import { expect, it } from 'vitest';
import { defineProvisioner, defineSource, type Provisioner, type Source } from './sdk.ts';

it('gives definitions back, classes with the contract that they are written for', () => {
  const provisioner: Provisioner = {
    className: 'acme',
    bundle: async (files) => files,
    deployment: async () => [],
  };
  const source: Source = {
    type: 'acme',
    fetch: async (resolvedSource) => ({
      files: { files: new Map(), directories: new Set() },
      resolvedSource,
    }),
  };
  expect(defineProvisioner(provisioner)).toEqual({ ...provisioner, contractVersion: 1 });
  expect(defineSource(source)).toBe(source);
});
