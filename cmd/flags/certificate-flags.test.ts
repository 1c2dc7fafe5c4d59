import { Command } from 'commander';
import { expect, test } from 'vitest';
import {
  addCertificateFlags,
  type CertificateFlags,
  certificateOptions,
} from './deployment-flags.ts';

function options(...args: readonly string[]) {
  const command = new Command();
  addCertificateFlags(command);
  return certificateOptions(command.parse(args, { from: 'user' }).opts<CertificateFlags>());
}

test('certificates are core’s own, for 90 days', () => {
  expect(options()).toEqual({ provider: 'self', lifetime: 90 * 24 * 3_600_000 });
});

test('both can be told', () => {
  const args = ['--certificates=cert-manager', '--serving-certificate-lifetime=1m'];
  expect(options(...args)).toEqual({ provider: 'cert-manager', lifetime: 60_000 });
});
