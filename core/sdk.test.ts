import { expect, it } from 'vitest';
import { defineProvisioner, type Provisioner } from './sdk.ts';

it('gives definitions back, classes with the contract that they are written for', () => {
  const provisioner: Provisioner = {
    className: 'acme',
    bundle: async (files) => files,
    deployment: async () => [],
  };
  expect(defineProvisioner(provisioner)).toEqual({ ...provisioner, contractVersion: 1 });
});
