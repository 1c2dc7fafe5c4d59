import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { optionalChecks } from '../../catalog/bundle-checks/index.ts';
import { rukpakctl } from '../../test/helpers/rukpakctl.ts';
import { optionalValues } from './validate.ts';

test('the howto shows what its command prints', async () => {
  const page = readFileSync('docs/howto/validate-a-bundle.md', 'utf8');
  const [, command = '', shown] = /^```console\n\$ rukpakctl (.*)\n([^]*?)^```$/m.exec(page) ?? [];
  const { code, stdout } = await rukpakctl(command.split(' '));
  expect(code).toBe(1);
  expect(stdout).toBe(shown);
});

test('--optional takes the names of all optional checks', () => {
  expect(optionalValues).toEqual(optionalChecks);
});
