import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isGone, namedTests, namesTestsOnly } from '../helpers/named-tests.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/threat-model.md'), 'utf8');

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:permission|who) \|/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

describe('docs/threat-model.md', () => {
  test('has a row for each attacker, and each row names tests', () => {
    const attackers = rows.map(([attacker = '']) => attacker).join('\n');
    for (const attacker of [
      /^BundleDeployments, and to impersonate one account$/m,
      /^Operators or ClusterExtensions$/m,
      /^Catalogs or ClusterCatalogs$/m,
      /^only Bundles$/m,
      /^only status of Bundles$/m,
      /^only status of BundleDeployments$/m,
      /^only status of Operators or ClusterExtensions$/m,
      /^only status of Catalogs or ClusterCatalogs$/m,
      /^only labels/m,
      /^in the pod network/m,
      /^a hostile registry$/m,
      /^a hostile class$/m,
    ]) {
      expect(attackers).toMatch(attacker);
    }
    const odd = rows.filter((row) => row.length !== 4 || namedTests(row[3] ?? '').length === 0);
    expect(odd).toEqual([]);
    expect(rows.filter(([, , , tests = '']) => !namesTestsOnly(tests))).toEqual([]);
  });

  test('names tests that there are', () => {
    expect(namedTests(page).filter(isGone)).toEqual([]);
  });
});
